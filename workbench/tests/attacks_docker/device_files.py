# end: Exit(0)
# says: made: []
import os
import stat

made = []
for name, device in {"mem": (1, 1), "sda": (8, 0), "fuse": (10, 229)}.items():
    for folder in ("/data/out", "/tmp"):
        for kind in (stat.S_IFCHR, stat.S_IFBLK):
            try:
                os.mknod(f"{folder}/{name}", 0o600 | kind, os.makedev(*device))
                made.append(name)
            except OSError:
                pass
print("made:", made)
