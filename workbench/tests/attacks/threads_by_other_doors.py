# sandbox: embedded
# end: Exit(0)
# says: ran: []
import _thread
import gc
import threading


ran = []


def run():
    ran.append(threading.get_ident())


doors = [thing for thing in gc.get_objects() if "start_new_thread" in getattr(thing, "__name__", "")]
doors += [getattr(threading, name) for name in dir(threading) if name.startswith("_start")]
doors += [getattr(_thread, name) for name in dir(_thread) if "start" in name]
for door in doors:
    try:
        door(run, ())
    except Exception as error:
        print(type(error).__name__)
print("ran:", ran)
