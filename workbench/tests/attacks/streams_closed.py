# end: Exit(1)
# says: NameError: name 'undefined'
# docker says: <class 'NameError'>
import sys

for stream in (sys.stdout.buffer, sys.stdout, sys.stderr, sys.stdin):
    stream.close()
    stream.close()
try:
    print("to a closed stream")
except ValueError:
    pass
sys.stdout.detach = None
undefined
