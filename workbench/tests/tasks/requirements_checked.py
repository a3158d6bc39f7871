# Twelve pieces under several requirements, chosen greedily and checked at the end.
import heapq
import re
from collections import deque, namedtuple
from tools import *

Size = namedtuple("Size", "height width")
Choice = namedtuple("Choice", "area object_id department size")


def size_of(text):
    height, width = re.fullmatch(r"H\. (?P<h>[\d.]+) x W\. (?P<w>\d+) cm", text).group("h", "w")
    return Size(float(height), int(width))


queues = {}
for object_id in range(1001, 1090):
    if object_id % 37 == 0:
        continue
    record = get_object(object_id)
    if record["isPublicDomain"] or "Bronze" in record["medium"]:
        size = size_of(record["dimensions"])
        choice = Choice(size.height * size.width, object_id, record["department"], size)
        heapq.heappush(queues.setdefault(record["department"], []), choice)

chosen, turn = [], deque(sorted(queues))
while len(chosen) < 12:
    department = turn[0]
    turn.rotate(-1)
    candidate = heapq.heappop(queues[department])
    if candidate.size.width and candidate.size not in {piece.size for piece in chosen}:
        chosen.append(candidate)

assert len(chosen) == 12, "too few"
requirements = {
    "twelve": len({piece.object_id for piece in chosen}) == 12,
    "four departments": len({piece.department for piece in chosen}) >= 4,
    "all small": all(piece.area < 200 for piece in chosen),
    "any tiny": any(piece.area < 5 for piece in chosen),
}
for piece in sorted(chosen)[:5]:
    print("{0.object_id} {0.department:.<20} {0.size.height:5.1f} x {0.size.width:02d} = {0.area:g}".format(piece))
print(*(f"{name}: {'met' if met else 'NOT MET'}" for name, met in requirements.items()), sep="\n")
