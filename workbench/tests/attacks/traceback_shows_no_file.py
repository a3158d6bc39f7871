# sandbox: embedded
# end: Exit(1)
# says: "/etc/passwd", line 1
# never: root:
import inspect
import linecache
import sys
import tokenize
import traceback
import warnings

places = ("/etc/passwd", "/etc/group", "/proc/self/environ", "/proc/self/maps")


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)


for place in places:
    for line in range(1, 4):
        code = compile("\n" * (line - 1) + "raise ValueError", place, "exec")
        try:
            exec(code)
        except ValueError:
            traceback.print_exc()
            sys.excepthook(*sys.exc_info())
        namespace = {"__file__": place, "__name__": place, "__loader__": None}
        attempt(lambda: linecache.getline(place, line, namespace))
        attempt(lambda: warnings.warn_explicit("x", UserWarning, place, line, module_globals=namespace))
        attempt(lambda: traceback.print_list(traceback.StackSummary.from_list([(place, line, "f", None)])))
        attempt(lambda: traceback.FrameSummary(place, line, "f").line)
    attempt(lambda: linecache.checkcache(place))
    attempt(lambda: linecache.getlines(place))
    attempt(lambda: tokenize.open(place).read())
    attempt(lambda: inspect.getsource(compile("def f(): pass", place, "exec")))
try:
    raise SyntaxError("odd", ("/etc/passwd", 1, 1, None))
except SyntaxError:
    traceback.print_exc()
raise SyntaxError("odd", ("/etc/passwd", 1, 1, None)) from RuntimeError(exec(compile("", "/etc/passwd", "exec")))
