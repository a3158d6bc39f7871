# end: Exit(1)
# says: RuntimeError: can't start new thread
# seconds: 30
import threading

forever = threading.Event()
for _ in range(200):
    threading.Thread(target=forever.wait, daemon=True).start()
