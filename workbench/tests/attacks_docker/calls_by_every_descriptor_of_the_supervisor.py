# end: Crashed | Exit(123) | OutOfMemory
# seconds: 10
import glob
import os
import time

FRAME = b'{"kind":"call","id":7,"tool":"noop","len":7}\n{"x":1}'
for path in glob.glob(f"/proc/{os.getppid()}/fd/*"):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), FRAME)
    except OSError:
        pass
time.sleep(60)
