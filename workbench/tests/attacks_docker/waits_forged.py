# cases: 5
# end: Crashed
# says: broke the protocol
# announced end: TimedOut
# announced says: reached its time limit
# seconds: 3
import os
import sys

CASE = 0
frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
link = frame.f_locals["link"]
WAIT = b'{"kind":"waiting","len":0}\n'
# Whoever reads answers waits for this lock, for ever.
link._open = None
number = 0


def call(tool, body):
    global number
    number += 1
    head = b'{"kind":"call","id":%d,"tool":"%s","len":%d}\n' % (number, tool, len(body))
    os.write(link._outgoing, head + body + WAIT)


if CASE == 0:
    os.write(link._outgoing, WAIT)
elif CASE == 1:
    call(b"noop", b'{"x":1}')
elif CASE == 2:
    call(b"noop", b'{"x":1}')
    # One that was asked for and not announced, while the other is answered.
    os.write(link._outgoing, b'{"kind":"call","id":9,"tool":"noop","len":7}\n{"x":1}')
elif CASE == 3:
    while True:
        os.write(link._outgoing, WAIT)
else:
    # The answers are never read.
    while True:
        call(b"text", b'{"megabytes":4}')
while True:
    pass
