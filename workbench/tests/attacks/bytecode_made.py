# end: Exit(1) | Crashed | TimedOut | OutOfMemory
# seconds: 10
import types

code = compile("a + b", "made", "eval")
for settings in (
    dict(co_stacksize=0),
    dict(co_stacksize=2**31 - 1),
    dict(co_nlocals=2**20),
    dict(co_consts=()),
    dict(co_names=()),
    dict(co_varnames=("x",) * 1000),
    dict(co_firstlineno=-5),
    dict(co_flags=2**31 - 1),
    dict(co_argcount=2**31 - 1),
    dict(co_exceptiontable=b"\xff" * 99),
    dict(co_linetable=b"\xff" * 99),
):
    try:
        made = code.replace(**settings)
        eval(made, {"a": 1, "b": 2})
        types.FunctionType(made, {})()
    except Exception as error:
        print(*settings, type(error).__name__)
try:
    exec(types.CodeType(*range(18)))
except Exception as error:
    print(type(error).__name__)
raise RuntimeError("it was survived")
