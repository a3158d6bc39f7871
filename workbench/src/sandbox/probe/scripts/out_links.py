# probe: links in /data/out, which lead to the host
# look at: kept files
# docker: kept real.txt
import os

os.chdir("/data/out")
for name, target in {"absolute": "/etc/passwd", "above": "../../../../etc/passwd", "link.txt": "real.txt"}.items():
    os.symlink(target, name)
# It goes into the file that the link names, in here.
with open("link.txt", "w") as link:
    link.write("from a probe")
