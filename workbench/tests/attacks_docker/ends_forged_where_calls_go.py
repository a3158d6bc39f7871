# end: Exit(99)
# seconds: 10
import os
import sys
import time

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
# It may say of itself what it likes; that costs nobody anything but its own result.
os.write(link._outgoing, b'{"kind":"end","code":99,"out_of_memory":false,"len":0}\n')
time.sleep(60)
