# calls: 1000
# sandbox: embedded
# end: Stopped
# says: the budget of 1000 tool calls
import _workbench

# The same without tasks, and the host is not waited for.
for i in range(100_000):
    _workbench.start("noop", {"x": i})
