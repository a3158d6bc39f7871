# end: Exit(0) | Exit(123) | OutOfMemory
# seconds: 10
import os
import time

FRAME = b'{"kind":"end","code":0,"out_of_memory":false,"files":false,"len":0}\n'
for number in range(64):
    try:
        os.set_blocking(number, False)
        os.write(number, FRAME)
    except OSError:
        pass
time.sleep(60)
