# probe: native code (ctypes)
# embedded: refused
import importlib

attempt(*[lambda name=name: importlib.import_module(name) for name in ("ctypes", "mmap", "fcntl", "_socket", "signal")])
