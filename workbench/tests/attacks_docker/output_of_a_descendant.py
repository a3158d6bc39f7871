# end: Stopped
# says: it printed more than 64 MB
# seconds: 60
import os
import time

if os.fork() == 0:
    os.setsid()
    while True:
        os.write(2, b"x" * 65536)
time.sleep(120)
