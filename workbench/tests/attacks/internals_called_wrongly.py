# sandbox: embedded
# end: Exit(0)
# says: still here
import _sandbox
import _workbench
from tools import noop

calls = [
    lambda: _workbench.call(),
    lambda: _workbench.call(1, 2),
    lambda: _workbench.call("noop", 5),
    lambda: _workbench.call("noop", [1]),
    lambda: _workbench.call("noop", None),
    lambda: _workbench.call("no such tool\n\0{}", {}),
    lambda: _workbench.call("x" * 100000, {}),
    lambda: _workbench.call("\ud800", {}),
    lambda: _workbench.start("noop", {"x": object()}),
    lambda: _workbench.wait("soon"),
    lambda: _workbench.wait(float("nan")),
    lambda: _workbench.wait(float("inf")),
    lambda: _workbench.wait(-1),
    lambda: _workbench.wait(10**400),
    lambda: _workbench.write(99, "to standard error\n"),
    lambda: _workbench.write(1, b"bytes"),
    lambda: _workbench.write(2**70, "text"),
    lambda: _workbench.random_bytes(-1),
    lambda: _workbench.compile(None),
    lambda: _workbench.compile("a\0b"),
    lambda: _workbench.compile("await " * 1000),
    lambda: _sandbox.run("print(1)", "", ""),
    lambda: _sandbox.run(None, None, None),
    lambda: _sandbox._install_tools("1 / 0", "x"),
    lambda: _sandbox._exit_code(5),
    lambda: _sandbox._call("noop", None),
]
for call in calls:
    try:
        call()
    except BaseException as error:
        print(type(error).__name__, str(error)[:60].encode("ascii", "replace"))

print(noop("still here"))
