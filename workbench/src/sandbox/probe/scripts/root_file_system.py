# probe: a new file beside the code
# docker: refused: Read-only file system
import os
import sys

# A file system that can be written says of a folder of others "Permission denied".
places = ["/", "/data", "/usr/bin", os.path.dirname(os.__file__), os.path.dirname(sys.executable), "/var/tmp"]
attempt(*[lambda place=place: open(os.path.join(place, "written-by-a-probe"), "w") for place in places])
