# end: Exit(1)
# says: the last of it
import io
import sys


class Bad(io.StringIO):
    def write(self, text):
        raise SystemExit(0)

    def flush(self):
        raise KeyError("the last of it")


sys.stdout = Bad()
