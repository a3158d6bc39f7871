# end: Exit(7)
import os

print("flushed")
os._exit(7)
