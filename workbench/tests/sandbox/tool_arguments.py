from collections import OrderedDict, defaultdict, namedtuple
from enum import IntEnum

from tools import *

Point = namedtuple("Point", "x y")
Level = IntEnum("Level", "LOW HIGH")


def attempt(function):
    try:
        print(repr(function()))
    except Exception as error:
        print(type(error).__name__ + ":", error)


loop = []
loop.append(loop)
deep = []
for _ in range(1000):
    deep = [deep]

attempt(lambda: get_object())
attempt(lambda: get_object(1, 2))
attempt(lambda: get_object(objectid=3))
attempt(lambda: noop({1}))
attempt(lambda: noop(float("nan")))
attempt(lambda: noop(b"x"))
attempt(lambda: noop({(1, 2): 3}))
attempt(lambda: noop("\ud800"))
attempt(lambda: noop(loop))
attempt(lambda: noop(deep))
attempt(lambda: noop({1: 1, None: 2, 1.5: 3, False: 4}))
attempt(lambda: noop([1.0, 1e16, 1e-7, 0.1 + 0.2, -0.0, (1, 2), 'é\n"😀\x00', True, None]))
attempt(lambda: noop([defaultdict(int, a=1), OrderedDict(b=2), Point(1, 2), Level.HIGH]))
attempt(lambda: noop('{"a": [1]}'))
attempt(lambda: noop(x=[]))
attempt(lambda: search_collection("cat", limit=2)["object_ids"])
attempt(lambda: search_collection(offset=129, department=None))
