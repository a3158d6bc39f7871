# end: Exit(0)
# says: folders are not
# seconds: 60
import os

os.chdir("/data/out")
for _ in range(900):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
