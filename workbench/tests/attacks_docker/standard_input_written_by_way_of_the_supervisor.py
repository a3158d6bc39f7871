# end: Exit(0)
# says: real
# seconds: 20
import os

from tools import noop

# What it writes there nobody reads but itself, and its own answer it may forge.
descriptor = os.open(f"/proc/{os.getppid()}/fd/0", os.O_WRONLY)
os.write(descriptor, b'{"kind":"answer","id":100,"ok":true,"len":8}\n"forged"')
print(noop("real"))
