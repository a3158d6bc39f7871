# end: Crashed
# says: it used the number 1 for a second call
# seconds: 10
import os
import sys
import time

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
for _ in range(2):
    os.write(link._outgoing, b'{"kind":"call","id":1,"tool":"noop","len":7}\n{"x":1}')
time.sleep(60)
