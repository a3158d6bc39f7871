# end: Exit(0)
# says: links and devices are not
# never: root:
import os

os.chdir("/data/out")
os.symlink("/etc/passwd", "absolute")
os.symlink("../../../../../etc/passwd", "above")
os.symlink(".", "itself")
os.symlink("nothing", "dangling")
os.link("absolute", "hard")
