# end: Exit(1)
# says: ValueError: told by nobody
# seconds: 5
import os
import sys

frame = sys._getframe()
while "link" not in frame.f_locals:
    frame = frame.f_back
space = frame.f_globals
link = frame.f_locals["link"]
link.send = link.start = link.next_job = None
space["told"] = space["exit_code"] = space["run"] = space["os"] = None
raise ValueError("told by nobody")
