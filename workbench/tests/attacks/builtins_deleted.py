# end: Exit(1)
import builtins

for name in list(vars(builtins)):
    if name not in ("delattr", "name", "builtins"):
        try:
            delattr(builtins, name)
        except BaseException:
            pass
print("there is no print")
