# end: TimedOut
# seconds: 3
import os

# Frames that weigh nothing, without end.
descriptor = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY)
pieces = b'{"kind":"output","stream":1,"len":0}\n' * 1000
while True:
    os.write(descriptor, pieces)
