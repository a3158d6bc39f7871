# end: Exit(1)
# says: nested deeper than 100 levels
from tools import *

value = nested(50)
while True:
    value = noop([value, value][:1])
