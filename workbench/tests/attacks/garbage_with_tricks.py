# end: Exit(0) | Crashed | TimedOut
# seconds: 10
# says: collected | CRASHED | KILLED
import gc
import sys
import weakref

kept = []


class Undead:
    def __init__(self):
        self.ring = self
        self.reference = weakref.ref(self, kept.append)

    def __del__(self):
        kept.append(self)
        gc.collect()
        Undead() if len(kept) < 50 else None


for _ in range(20):
    Undead()
    gc.collect()
gc.disable()
for thing in gc.get_objects()[:20000]:
    gc.get_referrers(thing) if len(kept) > 10**6 else None
    gc.get_referents(thing)
sys.getrefcount(None)
print("collected")
