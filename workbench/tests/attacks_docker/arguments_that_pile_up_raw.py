# end: TimedOut
# seconds: 3
# memory_mb: 512
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
os.kill(os.getppid(), 0)
body = b'{"x":"' + b"x" * 16_000_000 + b'"}'
number = 0
while True:
    number += 1
    left = memoryview(b'{"kind":"call","id":%d,"tool":"noop","len":%d}\n%s' % (number, len(body), body))
    while left:
        left = left[os.write(link._outgoing, left) :]
