# end: Stopped
# says: it printed more than 64 MB
import sys

megabyte = "x" * 1_000_000
for _ in range(100):
    sys.stderr.write(megabyte)
