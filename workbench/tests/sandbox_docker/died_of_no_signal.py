# end: Crashed("the interpreter was ended by signal 2147483648")
# A script can say whatever the supervisor says: the host takes no number on trust.
import os
import time

supervisor = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY)
os.write(supervisor, b'{"kind":"died","status":-2147483648,"files":false,"len":0}\n')
time.sleep(30)
