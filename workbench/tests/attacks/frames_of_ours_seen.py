# sandbox: embedded
# end: Exit(0)
# says: link: []
import gc
import sys

# Our own frames and whatever hangs on them: nothing there may be the link or a file.
frame = sys._getframe()
while frame is not None:
    try:
        frame.f_globals["_workbench"]
        frame.f_locals.clear()
    except Exception as error:
        print(type(error).__name__)
    frame = frame.f_back
found = [thing for thing in gc.get_objects() if type(thing).__name__ in ("Link", "File", "FileIO", "socket", "UnixStream")]
print("link:", found)
