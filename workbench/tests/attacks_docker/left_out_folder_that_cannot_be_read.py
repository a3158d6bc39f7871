# end: Exit(0)
# seconds: 30
import os

open("/data/out/file", "w").close()
os.chmod("/data/out/file", 0)
os.chmod("/data/out", 0)
