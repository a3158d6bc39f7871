# sandbox: embedded
# end: Exit(0)
# says: written to: []
import io
import os
import posix

FRAME = b'{"kind":"end","code":99,"out_of_memory":false,"len":0}\n'


def kinds_of(kind):
    for below in type.__subclasses__(kind):
        yield below
        yield from kinds_of(below)


# Whatever class can open a file, however it is hidden.
files = [kind for kind in kinds_of(io.IOBase.__mro__[-2]) if "File" in kind.__name__ or "Raw" in kind.__name__]
written = []
for number in range(3, 10):
    doors = [
        lambda: os.write(number, FRAME),
        lambda: posix.write(number, FRAME),
        lambda: os.fdopen(number, "wb").write(FRAME),
        lambda: open(number, "wb", closefd=False).write(FRAME),
        lambda: io.open(number, "wb").write(FRAME),
        lambda: io.FileIO(number, "wb").write(FRAME),
        lambda: os.sendfile(number, 0, 0, 10),
        *[lambda kind=kind: kind(number, "wb").write(FRAME) for kind in files],
    ]
    for door in doors:
        try:
            door()
        except Exception:
            continue
        written.append(number)
print("written to:", written)
