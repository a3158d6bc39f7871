# probe: running on after the end
# docker: killed at its time limit
# seconds: 1
import os
import signal
import time

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        # Whether it is gone afterwards, the host looks at the end.
        time.sleep(600)
while True:
    time.sleep(1)
