# end: Exit(1) | TimedOut
# seconds: 5
# docker end: Exit(5)
import atexit
import os


def again():
    atexit.register(again)
    os._exit(5)


class Code(SystemExit):
    @property
    def code(self):
        raise ValueError("no code")


atexit.register(again)
raise Code
