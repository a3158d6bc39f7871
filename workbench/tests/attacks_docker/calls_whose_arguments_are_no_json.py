# end: TimedOut
# seconds: 3
import os
import sys
import time

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
os.write(link._outgoing, b'{"kind":"call","id":1,"tool":"text","len":7}\nno json')
time.sleep(60)
