# end: TimedOut
# seconds: 5
# says: before
import atexit


@atexit.register
def loop():
    while True:
        pass


print("before", flush=True)
