# calls: 50
# sandbox: embedded
# end: Stopped
import _workbench

for i in range(60):
    _workbench.start("noop", {"x": i})
