# Objects by decade, each decade with its departments.
from collections import defaultdict
from itertools import chain
from tools import *

decades = defaultdict(lambda: defaultdict(list))
for object_id in chain(range(1001, 1030, 4), range(1098, 1110)):
    record = get_object(object_id)
    decade = record["objectBeginDate"] // 10 * 10
    decades[decade][record["department"]].append(object_id)

for decade, departments in sorted(decades.items()):
    print(f"{decade}s")
    for department in sorted(departments, key=lambda name: (-len(departments[name]), name)):
        print("   ", department, *departments[department])
busiest = max(decades, key=lambda decade: sum(map(len, decades[decade].values())))
print("busiest:", busiest, dict(decades[busiest]))
