"""Futures: the interpreter's own."""

from _asyncio import Future, future_add_to_awaited_by, future_discard_from_awaited_by

__all__ = ("Future", "isfuture", "wrap_future")


_PyFuture = Future


def isfuture(thing):
    return hasattr(type(thing), "_asyncio_future_blocking") and thing._asyncio_future_blocking is not None


def wrap_future(future, *, loop=None):
    """A future of concurrent.futures, which here is always done."""
    if isfuture(future):
        return future
    from . import events

    wrapped = (loop or events.get_event_loop()).create_future()
    exception = future.exception()
    if exception is None:
        wrapped.set_result(future.result())
    else:
        wrapped.set_exception(exception)
    return wrapped


def _get_loop(future):
    return future.get_loop()


def _set_result_unless_cancelled(future, result):
    if not future.cancelled():
        future.set_result(result)
