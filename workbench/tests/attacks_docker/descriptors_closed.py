# end: TimedOut
# seconds: 3
import os

os.closerange(0, 64)
while True:
    pass
