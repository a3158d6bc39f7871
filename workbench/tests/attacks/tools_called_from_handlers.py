# end: Exit(0)
# says: answered
import gc
import weakref

from tools import *

answers = []


class Deep:
    def __init__(self):
        self.me = self

    def __del__(self):
        answers.append(noop("from __del__"))

    def __repr__(self):
        return noop("from __repr__")

    def __hash__(self):
        return noop(7)

    def __eq__(self, other):
        return noop(True)


class Text(str):
    def __str__(self):
        return noop("from __str__")


class Number(int):
    def __repr__(self):
        return noop("from a number")

    __str__ = __repr__


class Mapping(dict):
    def __iter__(self):
        noop("from __iter__")
        return super().__iter__()

    def items(self):
        noop("from items")
        return super().items()


print(repr(Deep()), {Deep(): 1, Deep(): 2})
print(noop({Text("key"): Number(3), "inner": Mapping(a=Number(4))}))
reference = weakref.ref(Deep(), lambda _: answers.append(noop("from weakref")))
for _ in range(3000):
    # Answers are made while rubbish is collected, whose end calls a tool.
    Deep()
    if len(answers) > 20:
        break
    noop([1, 2, {"a": "b"}])
gc.collect()
print("answered", len(answers) >= 0)
