# end: TimedOut
# seconds: 3
import os
import threading

from tools import noop

descriptor = os.open(f"/proc/{os.getppid()}/fd/0", os.O_RDONLY)


def steal():
    while True:
        os.read(descriptor, 10)


threading.Thread(target=steal, daemon=True).start()
for number in range(1000):
    noop(number)
