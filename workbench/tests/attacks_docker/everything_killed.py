# end: Killed | Crashed("the interpreter was ended by signal 9")
# seconds: 20
import os

os.kill(-1, 9)
