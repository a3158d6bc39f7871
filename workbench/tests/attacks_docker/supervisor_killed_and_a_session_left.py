# end: Killed
# seconds: 20
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(60)
os.kill(os.getppid(), 9)
time.sleep(60)
