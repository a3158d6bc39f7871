# end: Exit(0)
# seconds: 60
import os

os.chdir("/data/out")
open("file", "w").close()
if os.fork() == 0:
    while True:
        try:
            os.symlink("/etc/passwd", "new")
            os.rename("new", "file")
            with open("new", "w") as file:
                file.write("x" * 1_000_000)
            os.rename("new", "file")
        except OSError:
            pass
