# Who made how many of the first objects, as a small table.
from collections import Counter

from tools import *

makers = Counter()
unserved = 0
for object_id in search_collection("cat", limit=80)["object_ids"]:
    try:
        record = get_object(object_id)
    except ToolError:
        unserved += 1
        continue
    makers[record["artistDisplayName"] or "(no name)"] += 1

total = makers.total()
widest = max(len(name) for name in makers)
for place, (name, count) in enumerate(makers.most_common(), start=1):
    print(f"{place}. {name:<{widest}} {count:>3} {count / total:>6.1%} {'#' * (count // 4)}")
print(f"{total} counted, {unserved} not served")
