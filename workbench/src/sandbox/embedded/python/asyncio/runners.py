"""Runs a coroutine from plain code."""

from . import coroutines, events, tasks

__all__ = ("Runner", "run", "to_thread")


class Runner:
    """Several coroutines, one after the other, on one loop."""

    def __init__(self, *, debug=None, loop_factory=None):
        self._loop = (loop_factory or events.new_event_loop)()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def get_loop(self):
        return self._loop

    def run(self, coro, *, context=None):
        if not coroutines.iscoroutine(coro):
            raise TypeError(f"a coroutine was expected, got {coro!r}")
        events.set_event_loop(self._loop)
        task = self._loop.create_task(coro, context=context)
        return self._loop.run_until_complete(task)

    def close(self):
        if self._loop.is_closed():
            return
        try:
            _cancel_all_tasks(self._loop)
        finally:
            events.set_event_loop(None)
            self._loop.close()


def run(main, *, debug=None, loop_factory=None):
    """Runs `main` to its end; what it left running is cancelled.

    A script that awaits at its top level already runs in a loop. It may call this all the same.
    """
    with Runner(debug=debug, loop_factory=loop_factory) as runner:
        return runner.run(main)


def _cancel_all_tasks(loop):
    left = tasks.all_tasks(loop)
    for task in left:
        task.cancel()
    if not left:
        return
    loop.run_until_complete(tasks.gather(*left, return_exceptions=True))
    for task in left:
        if not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler(
                {"message": "unhandled exception during asyncio.run() shutdown", "exception": task.exception()}
            )


async def to_thread(function, /, *args, **kwargs):
    """There are no threads: the function runs here and now."""
    return function(*args, **kwargs)
