# cases: 9
# end: Crashed
# says: broke the protocol
# announced end: Crashed | TimedOut
# announced says: broke the protocol | reached its time limit
# seconds: 10
import os
import sys
import time

CASE = 0
WRONG = (
    b'{"kind":"ready","len":0}\n',
    b'{"kind":"waiting","len":0}\n',
    b'{"kind":"run","len":0}\n',
    b'{"kind":"answer","id":1,"ok":true,"len":0}\n',
    b"\0" * 10 + b"\n",
    b'{"kind":"call","id":-1,"tool":"noop","len":0}\n',
    b'{"kind":"call","id":1,"tool":"noop","len":-1}\n',
    b'{"kind":"call","id":1,"tool":"' + b"n" * 2000 + b'","len":0}\n',
    b'{"kind":"call","id":1,"tool":"noop","len":100000000}\n',
)
frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
os.write(link._outgoing, WRONG[CASE])
time.sleep(60)
