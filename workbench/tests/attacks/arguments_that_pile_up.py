# sandbox: embedded
# end: TimedOut | Exit(1) | OutOfMemory
# seconds: 4
import _workbench

# Sixteen megabytes a call, and no answer is ever read.
text = "x" * 16_000_000
for _ in range(400):
    _workbench.start("noop", {"x": text})
while True:
    pass
