# cases: 12
# end: Crashed | OutOfMemory | Exit(1)
# says: the interpreter met a bug of its own | the script ran out of memory | it was survived
# docker says: segmentation fault | the script ran out of memory | it was survived
import types

CASE = 0
SETTINGS = (
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
)
try:
    if CASE == len(SETTINGS):
        exec(types.CodeType(*range(18)))
    made = compile("a + b", "made", "eval").replace(**SETTINGS[CASE])
    eval(made, {"a": 1, "b": 2})
    types.FunctionType(made, {})()
except Exception as error:
    print(CASE, type(error).__name__)
raise RuntimeError("it was survived")
