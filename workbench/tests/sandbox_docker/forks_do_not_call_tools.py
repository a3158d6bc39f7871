import os

from tools import *

child = os.fork()
if child == 0:
    try:
        noop(1)
    except OSError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(noop("the script does"))
