# end: Exit(0)
# says: take more than 72 MB
# seconds: 60
import os

with open("/data/out/sparse", "w") as file:
    os.truncate(file.fileno(), 1 << 40)
