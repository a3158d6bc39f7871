# end: Exit(1) | OutOfMemory
# says: RecursionError | ran out of memory
# docker end: Exit(1) | OutOfMemory | Crashed
# docker says: RecursionError | ran out of memory | SystemError | segmentation fault
import sys

sys.setrecursionlimit(10**9)


def deeper(n):
    return deeper(n + 1)


deeper(0)
