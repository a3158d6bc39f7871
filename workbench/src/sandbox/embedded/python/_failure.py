"""Tells an uncaught exception as CPython does, without the frames that are not the script's.

`traceback` takes a third of a second to import in an unoptimised build, so the plain cases are told
here; it is asked where it knows more: wrong syntax, groups, and names that are nearly right.
"""

import sys

import _workbench

# Code objects of these modules are ours: a script is shown its own lines.
_OWN_FILES = ("_sandbox", "_failure", "_ending", "_tools", "<tools>", "asyncio", "concurrent.futures", "posix", "_frozen_importlib")
_NEEDS_TRACEBACK = (SyntaxError, BaseExceptionGroup, NameError, AttributeError, ImportError)

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"
# Equal lines in a row that are shown; the rest is counted.
_REPEATED = 3


def write(kind, exception, trace):
    """The hook for uncaught exceptions."""
    chain = _chain(exception, trace)
    if any(isinstance(link, _NEEDS_TRACEBACK) for link, _, _ in chain):
        _write_with_traceback(kind, exception, trace)
    else:
        sys.stderr.write("".join(_text(*link) for link in chain))


def write_plainly(exception):
    """What is left when telling an exception has failed: its kind, without asking any code of the script."""
    _workbench.write(2, f"{type.__repr__(type(exception))}: an uncaught exception that cannot be told\n")


def _chain(exception, trace):
    """The exceptions that led to this one, oldest first, each with what follows it."""
    chain = []
    seen = set()
    note = ""
    while exception is not None and id(exception) not in seen:
        seen.add(id(exception))
        chain.append((exception, trace, note))
        if exception.__cause__ is not None:
            exception, note = exception.__cause__, _CAUSE
        elif not exception.__suppress_context__:
            exception, note = exception.__context__, _CONTEXT
        else:
            break
        trace = exception.__traceback__ if exception is not None else None
    return chain[::-1]


def _text(exception, trace, note):
    lines = _frames(trace)
    if lines:
        lines.insert(0, "Traceback (most recent call last):\n")
    kind = type(exception)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    message = _message(exception)
    lines.append(f"{name}: {message}\n" if message else f"{name}\n")
    lines.extend(f"{line}\n" for line in getattr(exception, "__notes__", ()))
    return "".join(lines) + note


def _message(exception):
    try:
        return str(exception).rstrip() if isinstance(exception, RecursionError) else str(exception)
    except BaseException:
        return "<exception str() failed>"


def _frames(trace):
    import linecache

    lines = []
    last, count = None, 0
    while trace is not None:
        code = trace.tb_frame.f_code
        place = (code.co_filename, trace.tb_lineno, code.co_name)
        trace = trace.tb_next
        if place[0].startswith(_OWN_FILES):
            continue
        if place != last:
            _count_repeats(lines, count)
            last, count = place, 0
        count += 1
        if count <= _REPEATED:
            source = linecache.getline(*place[:2]).strip()
            lines.append('  File "{}", line {}, in {}\n'.format(*place) + (f"    {source}\n" if source else ""))
    _count_repeats(lines, count)
    return lines


def _count_repeats(lines, count):
    more = count - _REPEATED
    if more > 0:
        lines.append(f"  [Previous line repeated {more} more time{'s' if more > 1 else ''}]\n")


def _write_with_traceback(kind, exception, trace):
    import traceback

    report = traceback.TracebackException(kind, exception, trace)
    # It would guess keywords for every misread name.
    report._exc_metadata = None
    _hide_own_frames(report)
    report.print(file=sys.stderr)


def _hide_own_frames(report):
    report.stack[:] = [frame for frame in report.stack if not frame.filename.startswith(_OWN_FILES)]
    for other in (report.__cause__, report.__context__, *(report.exceptions or ())):
        if other is not None:
            _hide_own_frames(other)
