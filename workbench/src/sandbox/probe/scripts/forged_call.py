# probe: one number for two calls
# docker: crashed: the interpreter broke the protocol
# seconds: 10
import os
import sys
import time

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
for text in ("one", "two"):
    body = f'{{"text":"{text}"}}'
    head = f'{{"kind":"call","id":1,"tool":"echo","len":{len(body)}}}\n'
    os.write(frame.f_locals["link"]._outgoing, (head + body).encode())
time.sleep(60)
