# probe: mount, and a namespace to mount in
# docker: refused: Operation not permitted
import ctypes
import os

library = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(library, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
attempt(
    lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    lambda: call("umount2", b"/data/out", 0),
    lambda: call("unshare", NEW_USER),
    lambda: call("unshare", NEW_MOUNTS),
)
