"""How a script ends, and what that is told as; the same in every sandbox."""

import sys


def exit_code(exception):
    """Tells an uncaught exception on standard error, and the exit code that CPython would give."""
    if isinstance(exception, SystemExit):
        code = exception.code
        if code is None:
            return 0
        if isinstance(code, int):
            # What does not fit into a number of C is all ones.
            return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
        print(code, file=sys.stderr)
        return 1
    sys.excepthook(type(exception), exception, exception.__traceback__)
    return 130 if isinstance(exception, KeyboardInterrupt) else 1


def end_of(steps, tell_plainly):
    """Takes one step after the other, however each ends: the exit code, and whether a `MemoryError` ended one.
    `tell_plainly` tells an exception whatever the script has made of what `exit_code` needs."""
    code, out_of_memory = 0, False
    for step in steps:
        try:
            step()
        except BaseException as exception:
            out_of_memory = out_of_memory or isinstance(exception, MemoryError)
            try:
                told = exit_code(exception)
            except BaseException:
                tell_plainly(exception)
                told = 1
            code = code or told
    return code, out_of_memory


def flush():
    """A script may have put streams of its own here, with something left in them, or none."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def run_exit_functions():
    import atexit

    atexit._run_exitfuncs()
