# end: Exit(1)
# says: ValueError: the script's own
import atexit

from tools import *


def bad():
    raise KeyError("at exit")


def call():
    print(noop("at exit"))


for function in (bad, call, bad, lambda: 1 / 0):
    atexit.register(function)
raise ValueError("the script's own")
