# end: TimedOut
# seconds: 3
# calls: 100000000
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
# Whoever reads answers waits for this lock, for ever.
link._open = None
body = b'{"megabytes":4}'
number = 0
while True:
    number += 1
    os.write(link._outgoing, b'{"kind":"call","id":%d,"tool":"text","len":%d}\n%s' % (number, len(body), body))
