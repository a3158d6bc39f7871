# end: Exit(3)
import atexit

atexit.register(print, "at exit")
exit(3)
