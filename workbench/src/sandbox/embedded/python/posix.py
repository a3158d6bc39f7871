"""Stand-in for the module behind `os`: enough for the standard library to import, and no system."""

import _sandbox
import _workbench

environ = {}
_have_functions = []

F_OK, X_OK, W_OK, R_OK = 0, 1, 2, 4
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_CLOEXEC = 0, 1, 2, 64, 128, 512, 1024, 524288


class stat_result(tuple):
    pass


class terminal_size(tuple):
    columns = property(lambda self: self[0])
    lines = property(lambda self: self[1])


class DirEntry:
    pass


def urandom(size):
    return bytes(_workbench.random_bytes(size))


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    given = getattr(type(path), "__fspath__", None)
    if given is None or not isinstance(text := given(path), (str, bytes)):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")
    return text


def getcwd():
    return "/"


def getpid():
    return 1


def cpu_count():
    return 1


def putenv(name, value):
    pass


def unsetenv(name):
    pass


def register_at_fork(**callbacks):
    pass


def _exit(status):
    raise SystemExit(status)


def _refused(name):
    def function(*args, **kwargs):
        raise _sandbox.refusal(f"os.{name}()")

    function.__name__ = function.__qualname__ = name
    return function


for _name in """access chdir chmod chown close dup dup2 execv execve fork fstat get_terminal_size kill link listdir
        lseek lstat mkdir mkfifo open pipe posix_spawn read readlink remove rename replace rmdir scandir stat statvfs
        symlink system truncate umask unlink utime wait waitpid write""".split():
    globals()[_name] = _refused(_name)
