# probe: files, read or written
# embedded: refused
import os

attempt(
    lambda: open("/etc/passwd").read(),
    lambda: os.listdir("/"),
    lambda: os.open("/etc/passwd", os.O_RDONLY),
    lambda: open("written-by-a-probe", "w"),
    lambda: open("/tmp/written-by-a-probe", "w"),
)
