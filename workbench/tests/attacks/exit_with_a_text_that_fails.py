# end: Exit(1)
import sys


class Bad:
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__


sys.exit(Bad())
