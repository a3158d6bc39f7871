# end: OutOfMemory | TimedOut
# memory_mb: 96
# seconds: 20
import mmap

print("before")
# Shared memory is no data of a process, so that no `MemoryError` stops it. Before the system ends the process it may take
# the pages of the interpreter away again and again, for as long as it likes.
shared = mmap.mmap(-1, 10**9)
for place in range(0, 10**9, 4096):
    shared[place] = 1
