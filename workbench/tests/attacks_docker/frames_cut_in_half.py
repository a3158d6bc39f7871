# end: Exit(7)
# says: EXIT CODE 7
# seconds: 10
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
os.write(link._outgoing, b'{"kind":"call","id":1,"tool":"noop","len":100}\n{"x":')
os._exit(7)
