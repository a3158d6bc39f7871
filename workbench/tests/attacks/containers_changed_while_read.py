# end: Exit(1)
# says: changed size during iteration
from tools import *

table = {n: n for n in range(100)}


class Evil(int):
    def __index__(self):
        table.clear()
        return 1

    def __eq__(self, other):
        table.clear()
        values.clear()
        return False

    __hash__ = int.__hash__


values = [Evil(n) for n in range(100)]
try:
    values.remove(-1)
    values.index(5)
    values[Evil(0) :]
    noop(values)
    noop({Evil(3): table})
except Exception as error:
    print(type(error).__name__)
table.update({n: n for n in range(10)})
for key in table:
    table[key + 100] = 1
