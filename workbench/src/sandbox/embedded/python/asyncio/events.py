"""The event loop: runs what is ready, then waits for the next timer or the next answer of a tool."""

import collections
import contextvars
import heapq
import sys
import time

import _workbench
# Once and here: an import of its own for each task would take as long as the task.
from _asyncio import Future, Task, _get_running_loop, _set_running_loop, get_running_loop
from _tools import ToolError

__all__ = (
    "AbstractEventLoop",
    "Handle",
    "TimerHandle",
    "get_event_loop",
    "set_event_loop",
    "new_event_loop",
    "get_running_loop",
)

# Futures of the calls that are under way, by the number of the call.
_calls = {}
_loop = None
# Seconds; a timer may stand at infinity, and the clock waits for no such time.
_LONGEST_WAIT = 24 * 60 * 60


async def call_tool(tool, arguments):
    """Calls a tool; other tasks go on until its answer is there."""
    future = get_running_loop().create_future()
    _calls[_workbench.start(tool, arguments)] = future
    return await future


class Handle:
    """A callback that waits for its turn."""

    def __init__(self, callback, args, loop, context=None):
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = context if context is not None else contextvars.copy_context()
        self._cancelled = False

    def cancel(self):
        self._cancelled = True
        self._callback = self._args = None

    def cancelled(self):
        return self._cancelled

    def _run(self):
        try:
            self._context.run(self._callback, *self._args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as exception:
            self._loop.call_exception_handler({"message": "Exception in callback", "exception": exception})


class TimerHandle(Handle):
    """A callback that waits for its time."""

    def __init__(self, when, callback, args, loop, context=None):
        super().__init__(callback, args, loop, context)
        self._when = when

    def when(self):
        return self._when


class AbstractEventLoop:
    """The loop itself; a script has one at a time."""

    def __init__(self):
        self._ready = collections.deque()
        self._timers = []
        self._timer_count = 0
        self._stopping = False
        self._closed = False
        self._exception_handler = None
        self._task_factory = None

    def time(self):
        return time.monotonic() - _workbench.stood()

    def call_soon(self, callback, *args, context=None):
        handle = Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        handle = TimerHandle(when, callback, args, self, context)
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, handle))
        return handle

    def create_future(self):
        return Future(loop=self)

    def create_task(self, coro, **settings):
        if self._task_factory is not None:
            return self._task_factory(self, coro, **settings)
        return Task(coro, loop=self, **settings)

    def set_task_factory(self, factory):
        self._task_factory = factory

    def get_task_factory(self):
        return self._task_factory

    async def run_in_executor(self, executor, function, *args):
        return function(*args)

    def run_until_complete(self, future):
        from .tasks import ensure_future

        self._check_closed()
        future = ensure_future(future, loop=self)
        future.add_done_callback(self._stop_for)
        try:
            self._run(future)
        finally:
            future.remove_done_callback(self._stop_for)
        return future.result()

    def run_forever(self):
        self._check_closed()
        self._run(None)

    def stop(self):
        self._stopping = True

    def _stop_for(self, future):
        if future.cancelled() or not isinstance(future.exception(), (SystemExit, KeyboardInterrupt)):
            self._stopping = True

    def _run(self, future):
        outer = _get_running_loop()
        _set_running_loop(self)
        try:
            while not self._stopping:
                self._run_once()
        finally:
            self._stopping = False
            _set_running_loop(outer)

    def _run_once(self):
        self._await_something()
        now = self.time()
        while self._timers and (self._timers[0][0] <= now or self._timers[0][2]._cancelled):
            self._ready.append(heapq.heappop(self._timers)[2])
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _await_something(self):
        """Takes in the answers that are there; waits for one, or for a timer, when nothing is ready."""
        while self._timers and self._timers[0][2]._cancelled:
            heapq.heappop(self._timers)
        if self._ready:
            seconds = 0
        elif self._timers:
            seconds = min(max(0, self._timers[0][0] - self.time()), _LONGEST_WAIT)
        else:
            seconds = None
        arrived = _workbench.wait(seconds) if _calls else None
        if arrived is not None:
            self._take(arrived)
        elif seconds is None:
            raise RuntimeError("deadlock: every task waits, and no tool call or timer is left that could wake one")
        elif seconds and not _calls:
            time.sleep(seconds)

    def _take(self, arrived):
        while arrived is not None:
            number, (ok, value) = arrived
            future = _calls.pop(number, None)
            if future is not None and not future.done():
                if ok:
                    future.set_result(value)
                else:
                    future.set_exception(ToolError(value))
            arrived = _workbench.wait(0) if _calls else None

    def _check_closed(self):
        if self._closed:
            raise RuntimeError("Event loop is closed")

    def is_running(self):
        return _get_running_loop() is self

    def is_closed(self):
        return self._closed

    def close(self):
        if self.is_running():
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def get_debug(self):
        return False

    def set_debug(self, enabled):
        pass

    def set_exception_handler(self, handler):
        self._exception_handler = handler

    def call_exception_handler(self, context):
        if self._exception_handler is not None:
            self._exception_handler(self, context)
            return
        print(context["message"], file=sys.stderr)
        exception = context.get("exception")
        if exception is not None:
            sys.excepthook(type(exception), exception, exception.__traceback__)

    async def shutdown_asyncgens(self):
        pass

    async def shutdown_default_executor(self, timeout=None):
        pass


def new_event_loop():
    return AbstractEventLoop()


def set_event_loop(loop):
    global _loop
    _loop = loop


def get_event_loop():
    running = _get_running_loop()
    if running is not None:
        return running
    if _loop is None or _loop.is_closed():
        set_event_loop(new_event_loop())
    return _loop
