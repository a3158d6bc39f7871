# sandbox: embedded
# seconds: 20
# end: Exit(0)
# says: went on
import threading

# Nobody else is there who could free it: with one thread a lock is always got.
lock = threading.Lock()
print(lock.acquire(), lock.acquire(), "went on")
