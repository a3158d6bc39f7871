# end: TimedOut
# seconds: 4
import os
import signal

os.kill(os.getppid(), signal.SIGSTOP)
print("before", flush=True)
