# sandbox: embedded
import importlib
import io
import os
import pathlib
import threading

# Nothing here does harm where the system is there: whoever runs this file by hand is safe.


def attempt(function, *args):
    try:
        print(function(*args))
    except Exception as error:
        print(type(error).__name__ + ":", error)


attempt(open, "/no/such/file")
attempt(io.open, "/no/such/file")
attempt(pathlib.Path("/no/such/file").read_text)
attempt(os.listdir, "/no/such/folder")
attempt(os.remove, "/no/such/file")
attempt(os.makedirs, "/proc/no/such")
attempt(os.system, "true")
attempt(os.popen, "true")
attempt(threading.Thread(target=print).start)
for name in "socket ssl subprocess multiprocessing ctypes sqlite3 requests numpy urllib.request http.client".split():
    attempt(importlib.import_module, name)
try:
    import pandas as pd
except ImportError:
    print("no pandas")
print(os.environ.get("HOME"), dict(os.environ), os.getenv("X", "default"), os.path.exists("/proc"))
print(os.path.join("a", "b.jpg"), os.path.basename("/x/y.txt"), pathlib.PurePath("a/b.c").suffix, len(os.urandom(8)))
