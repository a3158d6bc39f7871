# end: Exit(1)
# says: x
import sys

for _ in range(20000):
    sys.stdout.write("x")
    sys.stdout.flush()
for _ in range(1000):
    sys.stderr.buffer.write(b"y")
sys.exit(1)
