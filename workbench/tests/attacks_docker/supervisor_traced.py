# end: TimedOut
# seconds: 4
import ctypes
import os
import time

ATTACH = 16
ctypes.CDLL(None).ptrace(ATTACH, os.getppid(), 0, 0)
time.sleep(60)
