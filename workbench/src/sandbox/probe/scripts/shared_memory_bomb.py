# probe: shared memory without end
# docker: out of memory | killed at its time limit
# memory_mb: 96
# seconds: 4
import mmap

# Before the system ends it, it may take the pages of the interpreter away again and again, for as long as it likes. No
# more than these 256 MB, should nothing stop it.
shared = mmap.mmap(-1, 256 << 20)
for place in range(0, 256 << 20, 4096):
    shared[place] = 1
print("allowed: 256 MB")
