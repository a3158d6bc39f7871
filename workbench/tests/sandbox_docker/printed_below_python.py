import os
import subprocess
import sys

print("first")
os.write(1, b"second\n")
subprocess.run(["sh", "-c", "echo third; echo below >&2"])
sys.stdout.buffer.write(b"fo\xffrth\n")
print("fifth", end="")
sys.stderr.write("last")
