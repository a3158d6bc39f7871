# sandbox: embedded
# end: Exit(1)
# says: cannot be told
import sys

import _failure
import _sandbox
import _workbench

_sandbox.ToolError = None
_sandbox._exit_code = None
_failure.write = None
sys.excepthook = sys.__excepthook__ = None
sys.stdout = sys.stderr = None
_workbench.flush = lambda: 1 / 0
raise ValueError("told by nobody")
