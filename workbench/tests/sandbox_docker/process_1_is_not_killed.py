import os

os.kill(1, 9)
print(open("/proc/1/comm").read().strip())
