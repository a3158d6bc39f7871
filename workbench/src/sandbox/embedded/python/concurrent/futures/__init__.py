"""Executors without threads: what is submitted runs at once, so results are right and in order.

For calls that overlap there is `tools.aio`.
"""

FIRST_COMPLETED = "FIRST_COMPLETED"
FIRST_EXCEPTION = "FIRST_EXCEPTION"
ALL_COMPLETED = "ALL_COMPLETED"


class Error(Exception):
    pass


class CancelledError(Error):
    pass


class InvalidStateError(Error):
    pass


class BrokenExecutor(RuntimeError):
    pass


TimeoutError = TimeoutError


class Future:
    """The outcome of a call; here nearly always there already."""

    def __init__(self):
        self._done = False
        self._cancelled = False
        self._result = None
        self._exception = None
        self._callbacks = []

    def done(self):
        return self._done

    def running(self):
        return False

    def cancelled(self):
        return self._cancelled

    def cancel(self):
        if self._done:
            return self._cancelled
        self._cancelled = True
        self._finish()
        return True

    def result(self, timeout=None):
        exception = self.exception(timeout)
        if exception is not None:
            raise exception
        return self._result

    def exception(self, timeout=None):
        if self._cancelled:
            raise CancelledError()
        if not self._done:
            raise TimeoutError()
        return self._exception

    def add_done_callback(self, callback):
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def set_running_or_notify_cancel(self):
        return not self._cancelled

    def set_result(self, result):
        self._result = result
        self._finish()

    def set_exception(self, exception):
        self._exception = exception
        self._finish()

    def _finish(self):
        if self._done:
            raise InvalidStateError(f"{self!r} is done")
        self._done = True
        for callback in self._callbacks:
            callback(self)


class Executor:
    """Runs calls one after the other."""

    def __init__(self, *args, **kwargs):
        self._shut = False
        self._max_workers = 1

    def submit(self, function, /, *args, **kwargs):
        if self._shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        try:
            result = function(*args, **kwargs)
        except BaseException as exception:
            future.set_exception(exception)
        else:
            future.set_result(result)
        return future

    def map(self, function, *iterables, timeout=None, chunksize=1, buffersize=None):
        futures = [self.submit(function, *args) for args in zip(*iterables)]
        return (future.result() for future in futures)

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shut = True

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.shutdown()


class ThreadPoolExecutor(Executor):
    pass


class ProcessPoolExecutor(Executor):
    pass


class _DoneAndNotDone(tuple):
    done = property(lambda self: self[0])
    not_done = property(lambda self: self[1])


def wait(futures, timeout=None, return_when=ALL_COMPLETED):
    futures = set(futures)
    done = {future for future in futures if future.done()}
    return _DoneAndNotDone((done, futures - done))


def as_completed(futures, timeout=None):
    seen = set()
    for future in futures:
        if future not in seen:
            seen.add(future)
            yield future
