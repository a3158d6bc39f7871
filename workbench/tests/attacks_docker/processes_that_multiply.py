# end: TimedOut | OutOfMemory | Crashed | Killed
# seconds: 4
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
