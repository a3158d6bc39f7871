# end: Exit(42)
# says: EXIT CODE 42
# seconds: 10
import os
import time

# The pipe where the interpreter says how a script ended. It may say of itself what it likes.
for number in range(3, 64):
    try:
        if os.readlink(f"/proc/self/fd/{number}").startswith("pipe:"):
            os.set_blocking(number, False)
            os.write(number, b"\x2a\0")
    except OSError:
        pass
time.sleep(60)
