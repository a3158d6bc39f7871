# The same record asked for again and again, fetched once.
from functools import cache, cached_property, lru_cache, partial, reduce
from operator import itemgetter, or_
from tools import *

asked = []


@lru_cache(maxsize=4)
def record_of(object_id):
    asked.append(object_id)
    return get_object(object_id)


@cache
def departments():
    return frozenset(record_of(object_id)["department"] for object_id in range(1000, 1004))


class Visitor:
    def __init__(self, ids):
        self.ids = ids

    @cached_property
    def seen(self):
        print("looks")
        return reduce(or_, ({record_of(i)["department"]} for i in self.ids), set())


for object_id in (1000, 1001, 1000, 1002, 1003, 1001):
    record_of(object_id)
print(record_of.cache_info(), asked)
print(sorted(departments()), departments() is departments())
visitor = Visitor([1001, 1005])
print(visitor.seen, visitor.seen)
record_of(1000)
print(asked, record_of.cache_info().hits)
record_of.cache_clear()
print(record_of.cache_info())
by_title = partial(sorted, key=itemgetter("title", "objectID"))
print([record["objectID"] for record in by_title(map(record_of, (1008, 1003, 1004, 1002)))])
