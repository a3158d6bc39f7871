# end: TimedOut
# seconds: 3
import os
import sys
import threading

from tools import noop

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
incoming = link._incoming.fileno()


def steal():
    while True:
        os.read(incoming, 10)


for _ in range(8):
    threading.Thread(target=steal, daemon=True).start()
for number in range(1000):
    noop(number)
