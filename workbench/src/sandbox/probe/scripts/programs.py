# probe: programs, processes, threads
# embedded: refused
import os
import threading

attempt(
    lambda: os.system("true"),
    lambda: os.popen("true"),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: os.fork(),
    lambda: os.kill(os.getppid(), 0),
    lambda: threading.Thread(target=print).start(),
)
