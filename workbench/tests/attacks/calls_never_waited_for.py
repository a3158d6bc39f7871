# calls: 50
# end: Stopped
import _workbench

for i in range(60):
    _workbench.start("noop", {"x": i})
