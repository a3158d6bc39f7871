# end: Exit(1)
# says: ValueError
import sys

kept = dict(sys.modules)
for name in list(sys.modules):
    if name not in ("sys", "builtins"):
        sys.modules[name] = 5
sys.meta_path = None
sys.path_hooks = 7
sys.modules["atexit"] = None
raise ValueError("replaced")
