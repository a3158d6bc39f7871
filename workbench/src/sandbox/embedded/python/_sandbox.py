"""Runs one script: what it finds when it starts, and how its end is told."""

import sys

import _ending
import _failure
import _io
import _scanner
import _thread
import _tools
import _warnings
import _workbench

_NO_NETWORK = "there is no network; {advice}"
_NO_PROGRAMS = "no program can be started: do it in this script, or with a tool; {advice}"
_NO_THREADS = "there are no threads; for many calls at once use `from tools.aio import *` with asyncio.gather"
_ABSENT = {
    "socket": _NO_NETWORK,
    "ssl": _NO_NETWORK,
    "select": _NO_NETWORK,
    "selectors": _NO_NETWORK,
    "socketserver": _NO_NETWORK,
    "http.client": _NO_NETWORK,
    "http.server": _NO_NETWORK,
    "urllib.request": _NO_NETWORK,
    "requests": _NO_NETWORK,
    "httpx": _NO_NETWORK,
    "aiohttp": _NO_NETWORK,
    "urllib3": _NO_NETWORK,
    "subprocess": _NO_PROGRAMS,
    "multiprocessing": _NO_PROGRAMS,
    "ctypes": "no native code can be loaded",
    "_ctypes": "no native code can be loaded",
    "sqlite3": "there are no files; keep the data in lists and dicts",
    "signal": "there are no signals",
    "mmap": "there are no files",
    "fcntl": "there are no files",
}


def refusal(what):
    """What a script gets that asks for the system."""
    return PermissionError(f"{what} is not available in this sandbox; use the tools")


class _Output(_io._TextIOBase):
    """Standard output or error."""

    encoding = "utf-8"
    mode = "w"
    line_buffering = True

    def __init__(self, number, name, errors):
        self._number = number
        self.name = name
        self._errors = errors
        self.buffer = _Bytes(self)

    @property
    def errors(self):
        return self._errors

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if not _workbench.write(self._number, text):
            _workbench.write(self._number, self._without_surrogates(text))
        return len(text)

    def _without_surrogates(self, text):
        """The one thing UTF-8 cannot hold: an error, or on standard error its escape."""
        safe = []
        for place, letter in enumerate(text):
            if "\ud800" <= letter <= "\udfff":
                if self._errors == "strict":
                    raise UnicodeEncodeError("utf-8", text, place, place + 1, "surrogates not allowed")
                letter = f"\\u{ord(letter):x}"
            safe.append(letter)
        return "".join(safe)

    def flush(self):
        _workbench.flush()

    def reconfigure(self, **settings):
        self._errors = settings.get("errors") or self._errors

    def writable(self):
        return True

    def isatty(self):
        return False

    def fileno(self):
        return self._number


class _Bytes(_io._BufferedIOBase):
    """The bytes below a text stream; what is not UTF-8 is replaced, since a model reads it."""

    def __init__(self, text):
        self._text = text

    def write(self, data):
        self._text.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def writable(self):
        return True

    def flush(self):
        _workbench.flush()


class _File(_io._RawIOBase):
    """Stands where `io` expects the class of open files."""

    def __init__(self, *args, **kwargs):
        raise refusal("opening files")


def _open(file, mode="r", *args, **kwargs):
    raise refusal(f"open({str(file)!r})")


_open.__name__ = _open.__qualname__ = "open"


def _start_thread(*args, **kwargs):
    raise RuntimeError("can't start new thread: " + _NO_THREADS)


def _exit(code=None):
    raise SystemExit(code)


_exit.__name__ = _exit.__qualname__ = "exit"


class _Refuse:
    """Finds, before anything else, the modules that would need the system."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        reason = _ABSENT.get(name)
        if reason:
            reason = reason.format(advice=_tools.advice)
            raise ModuleNotFoundError(f"No module named {name!r}: not available in this sandbox: {reason}", name=name)


class _Missing:
    """Asked last: says what there is instead of a package that is not there."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("_") and "." not in name:
            text = f"No module named {name!r}: this sandbox has {_tools.library()}, no other packages"
            if name == "tools":
                text += f"; {_tools.advice}"
            raise ModuleNotFoundError(text, name=name)


def _prepare():
    import builtins
    import gc

    # A collection looks at all that was imported. After every 2,000 objects, as by default, it takes a third of the time of
    # a script that gathers many calls.
    gc.set_threshold(10_000, 10, 0)
    _scanner.install()
    _io.FileIO = _File
    _io.open = _io.open_code = builtins.open = _open
    builtins.exit = builtins.quit = _exit
    sys.stdin = sys.__stdin__ = _io.StringIO("")
    sys.stdout = sys.__stdout__ = _Output(1, "<stdout>", "strict")
    sys.stderr = sys.__stderr__ = _Output(2, "<stderr>", "backslashreplace")
    sys.builtin_module_names += ("posix",)
    sys.meta_path.insert(0, _Refuse)
    sys.meta_path.append(_Missing)
    # The interpreter's own tasks do what this warns of.
    text = "the (type, val, tb) signature of throw() is deprecated, use throw(val) instead"
    _warnings.filters.insert(0, ("ignore", text, DeprecationWarning, None, 0))
    sys.excepthook = sys.__excepthook__ = _failure.write
    _thread.start_new_thread = _thread.start_joinable_thread = _start_thread


def _show_source(source, file):
    """Lets tracebacks show the script's own lines, and look for no other: there are no files."""
    import linecache

    linecache.updatecache = lambda filename, module_globals=None: []
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[file] = (len(source), None, lines, file)


def _call(tool, arguments, optional=()):
    ok, value = _workbench.call(tool, _tools.given(arguments, optional))
    if ok:
        return value
    raise _tools.ToolError(value)


# Of `asyncio.events`, which is imported when a script first needs it, and once: an import takes as long as a call.
_call_tool = None


def _call_later(tool, arguments, optional=()):
    global _call_tool
    if _call_tool is None:
        from asyncio.events import call_tool as _call_tool
    coroutine = _call_tool(tool, _tools.given(arguments, optional))
    coroutine.__name__ = coroutine.__qualname__ = tool
    return coroutine


# The names of the scripts before, where they are kept.
_main = None


def run(source, file, tools_source, domain_module, keep_state):
    """Runs a script, which tracebacks call `file`. Returns its exit code, and whether a `MemoryError` ended it."""
    global _main
    if _main is None:
        _main = _fresh_main()
    main = _main
    if not keep_state:
        _main = None
    main.__file__ = file
    sys.argv = [file]
    _show_source(source, file)
    sys.modules["__main__"] = main
    if "asyncio.events" in sys.modules:
        # Calls that the script before left open are answered no more.
        sys.modules["asyncio.events"]._calls.clear()

    def script():
        if domain_module is None:
            _tools.place(tools_source, _call_later, main.__dict__)
        else:
            _tools.install(tools_source, domain_module, _call, _call_later)
        _execute(_workbench.compile(source, file), main.__dict__)

    # What is to be done at the end of the interpreter has time where that goes on.
    exit_functions = () if keep_state else (_ending.run_exit_functions,)
    ended = _ending.end_of((script, *exit_functions, _ending.flush), _failure.write_plainly)
    _workbench.flush()
    return ended


def _fresh_main():
    import builtins

    main = type(sys)("__main__")
    main.__builtins__ = builtins
    return main


def _execute(parts, namespace):
    if not any(is_coroutine for _, is_coroutine in parts):
        for code, _ in parts:
            exec(code, namespace)
        return
    import asyncio

    asyncio.run(_execute_awaiting(parts, namespace))


async def _execute_awaiting(parts, namespace):
    for code, is_coroutine in parts:
        exec(code, namespace)
        if is_coroutine:
            await namespace.pop("<module>")()


_prepare()
