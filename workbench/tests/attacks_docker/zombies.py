# end: Exit(3)
# seconds: 30
import os
import sys

for _ in range(100):
    if os.fork() == 0:
        os._exit(0)
sys.exit(3)
