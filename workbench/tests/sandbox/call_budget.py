# calls: 5
# end: Stopped("the budget of 5 tool calls is used up")
from tools import *

while True:
    try:
        print(noop(1))
    except BaseException:
        pass
