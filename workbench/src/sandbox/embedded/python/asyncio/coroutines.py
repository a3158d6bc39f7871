"""Tells coroutines from other things."""

import types

__all__ = ("iscoroutinefunction", "iscoroutine")

_CO_COROUTINE = 0x80


def iscoroutinefunction(function):
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & _CO_COROUTINE)


def iscoroutine(thing):
    if isinstance(thing, types.CoroutineType):
        return True
    return all(hasattr(thing, name) for name in ("send", "throw", "close", "cr_code"))


def _format_coroutine(coroutine):
    return getattr(coroutine, "__qualname__", type(coroutine).__name__) + "()"
