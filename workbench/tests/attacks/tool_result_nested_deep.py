# end: Exit(1)
# says: nested deeper than 500 levels
# docker says: RecursionError
from tools import *

print(len(repr(nested(50))))
try:
    nested(100000)
except ValueError as error:
    print(error)
print(noop("goes on"))
nested(100000)
