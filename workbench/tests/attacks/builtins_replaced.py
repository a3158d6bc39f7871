# end: Exit(1)
import builtins


def bad(*arguments, **more):
    raise SystemExit(0)


for name in ("isinstance", "str", "type", "id", "len", "print", "getattr", "__import__", "any", "BaseException", "set"):
    setattr(builtins, name, bad)
raise ValueError("with no builtin left")
