# end: Crashed | Killed
# seconds: 20
import os
import time

os.kill(1, 15)
time.sleep(60)
