# end: Exit(1)
# says: ZeroDivisionError
import sys

FRAME = '{"kind":"end","code":0,"out_of_memory":false,"len":0}\n'
for stream in (sys.stdout, sys.stderr, sys.stdout.buffer, sys.__stdout__):
    stream.write(FRAME.encode() if stream is sys.stdout.buffer else FRAME)
    stream.flush()
1 / 0
