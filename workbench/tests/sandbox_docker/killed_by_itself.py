# end: Crashed("the interpreter was ended by signal 9")
import os

print("before")
os.kill(os.getpid(), 9)
