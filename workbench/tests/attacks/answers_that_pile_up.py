# sandbox: embedded
# end: TimedOut
# seconds: 4
import _workbench

for _ in range(5000):
    _workbench.start("text", {"megabytes": 4})
while True:
    pass
