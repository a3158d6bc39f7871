# end: Exit(1) | TimedOut | Crashed
# seconds: 5
import sys


def trace(frame, event, argument):
    sys.settrace(trace)
    frame.f_trace = trace
    frame.f_lineno = 1
    raise ValueError("from the trace")


sys.settrace(trace)
sys.setprofile(trace)


def traced():
    pass


traced()
raise ValueError("from the script")
