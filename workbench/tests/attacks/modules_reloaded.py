# end: Exit(1)
# says: ZeroDivisionError
import importlib
import sys

for name in ("_sandbox", "_failure", "posix", "os", "io", "_io", "asyncio.events", "asyncio", "tools", "sys", "builtins"):
    try:
        importlib.reload(importlib.import_module(name))
    except BaseException as error:
        print(name, type(error).__name__, str(error)[:50])
try:
    print(open("/etc/hostname").read())
except OSError as error:
    print(error)
1 / 0
