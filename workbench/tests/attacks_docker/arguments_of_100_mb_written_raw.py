# end: Crashed
# says: a frame of 100000000 bytes is over the limit
# seconds: 20
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
os.write(link._outgoing, b'{"kind":"call","id":1,"tool":"noop","len":100000000}\n')
while True:
    os.write(link._outgoing, b"x" * 1_000_000)
