# end: Crashed
# says: its container broke the protocol
# seconds: 10
import os
import time

descriptor = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY)
os.write(descriptor, b"garbage that is no frame\n" * 100)
time.sleep(60)
