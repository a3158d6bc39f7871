# probe: process 1, killed
# docker: still there
import os
import signal

os.kill(1, signal.SIGKILL)
print("still there" if os.path.exists("/proc/1/comm") else "gone")
