# Pages as one endless-looking stream, of which only a part is ever asked for.
from itertools import islice, takewhile
from tools import *

pages_read = 0


def every_id(page_length):
    global pages_read
    offset = 0
    while offset is not None:
        page = search_collection(offset=offset, limit=page_length)
        pages_read += 1
        yield from page["object_ids"]
        offset = page["next_offset"]


def batches(items, size):
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch


print(list(islice(every_id(7), 10)), "of", pages_read, "pages")
pages_read = 0
early = takewhile(lambda object_id: object_id < 1020, every_id(25))
print([f"{batch[0]}-{batch[-1]}" for batch in batches(early, 6)], pages_read)
pages_read = 0
sizes = [len(batch) for batch in batches(every_id(50), 40)]
print(sizes, sum(sizes), pages_read)
print(sum(object_id % 37 == 0 for object_id in every_id(130)), "are listed and not served")
