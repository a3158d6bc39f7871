# end: Exit(1)
# says: list modified during sort | ValueError
import random

items = list(range(1000))


class Key:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        items.clear()
        items.extend(range(10))
        return random.choice([True, False])


try:
    items.sort(key=Key)
except ValueError as error:
    print(error)
sorted([1, "a", None, float("nan")], key=lambda x: Key(x))


class Worse:
    def __lt__(self, other):
        raise ValueError("list modified during sort")


sorted([Worse(), Worse()])
