# end: Stopped
# says: it printed more than 64 MB
# seconds: 60
import os

descriptor = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY)
piece = b'{"kind":"output","stream":1,"len":1000000}\n' + b"x" * 1_000_000
while True:
    left = memoryview(piece)
    while left:
        left = left[os.write(descriptor, left) :]
