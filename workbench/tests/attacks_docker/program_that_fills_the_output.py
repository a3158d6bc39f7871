# end: Stopped
# says: it printed more than 64 MB
# seconds: 60
import subprocess

subprocess.run(["cat", "/dev/zero"])
