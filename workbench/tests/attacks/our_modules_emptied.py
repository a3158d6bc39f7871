# sandbox: embedded
# end: Exit(1)
import sys

import _failure
import _sandbox
import _workbench

for module in (_failure, _workbench, _sandbox, sys):
    for name in list(vars(module)):
        try:
            delattr(module, name)
        except BaseException:
            pass
raise ValueError("told by nobody")
