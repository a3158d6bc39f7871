# end: Killed
import os
import time

os.kill(os.getppid(), 9)
time.sleep(30)
