# end: Exit(1)
# says: BlockingIOError
# seconds: 30
import os
import signal

for _ in range(200):
    if os.fork() == 0:
        signal.pause()
