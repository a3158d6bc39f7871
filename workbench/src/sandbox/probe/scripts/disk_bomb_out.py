# probe: a full /data/out
# docker: refused: No space left on device
import os


def fill():
    with open("/data/out/filling", "wb") as file:
        # No more than these 100 MB, should nothing stop it.
        for _ in range(100):
            file.write(b"x" * (1 << 20))
    return "100 MB"


attempt(fill)
os.remove("/data/out/filling")
