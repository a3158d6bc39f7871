# end: Exit(1)
# says: limited to 16 MB
# memory_mb: 512
from tools import *

for argument in ("x" * 100_000_000, ["\0" * 3_000_000], {"é" * 9_000_000: 1}, ["y" * 4_000_000] * 5):
    try:
        noop(argument)
    except ValueError as error:
        print(error)
noop("x" * 17_000_000)
