# cases: 4
# end: Exit(77) | Crashed | TimedOut
# seconds: 4
import os
import time

CASE = 0
FORGED = (
    b'{"kind":"end","code":77,"out_of_memory":false,"files":true,"len":0}\n',
    b'{"kind":"died","status":-11,"files":true,"len":0}\n',
    b'{"kind":"output","stream":255,"len":5}\nxxxxx',
    b'{"kind":"output","stream":1,"len":900000000}\n',
)
descriptor = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY)
os.write(descriptor, FORGED[CASE])
time.sleep(60)
