"""How tasks are shown."""

from . import coroutines


def _task_repr_info(task):
    info = ["cancelling" if task.cancelling() and not task.done() else "finished" if task.done() else "pending"]
    info.append(f"name={task.get_name()!r}")
    info.append(f"coro=<{coroutines._format_coroutine(task.get_coro())}>")
    if task.done() and not task.cancelled():
        exception = task.exception()
        info.append(f"result={task.result()!r}" if exception is None else f"exception={exception!r}")
    return info


def _task_repr(task):
    return f"<{type(task).__name__} {' '.join(_task_repr_info(task))}>"


def _task_get_stack(task, limit):
    return []


def _task_print_stack(task, limit, file):
    pass
