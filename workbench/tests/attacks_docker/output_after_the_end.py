# end: Exit(5) | Stopped
# seconds: 20
import os
import sys

# It goes on printing when the script is over.
if os.fork() == 0:
    while True:
        os.write(1, b"x" * 65536)
sys.exit(5)
