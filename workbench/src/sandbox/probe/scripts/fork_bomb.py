# probe: processes without end
# docker: refused: Resource temporarily unavailable
# memory_mb: 512
import os
import signal


def bomb():
    # No more than these, should nothing stop it.
    for _ in range(200):
        if os.fork() == 0:
            signal.pause()
    return "200 processes"


attempt(bomb)
