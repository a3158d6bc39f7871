# end: Crashed
# says: has no end
# seconds: 10
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
while True:
    os.write(link._outgoing, b"x" * 65536)
