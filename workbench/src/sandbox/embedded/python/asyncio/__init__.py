"""asyncio over tool calls: CPython's own tasks, locks and queues on an event loop that waits for answers."""

import sys

# CPython's `tasks` uses one function of `inspect`, which takes longer to import than all the rest.
_small = type(sys)("inspect")
_small.isawaitable = lambda thing: hasattr(type(thing), "__await__") or type(thing).__name__ in ("coroutine", "generator")
_inspect = sys.modules.get("inspect")
sys.modules["inspect"] = _small
try:
    from .events import *
    from .exceptions import *
    from .coroutines import *
    from .futures import *
    from .locks import *
    from .queues import *
    from .tasks import *
    from .taskgroups import *
    from .timeouts import *
    from .runners import *
finally:
    del sys.modules["inspect"]
    if _inspect is not None:
        sys.modules["inspect"] = _inspect


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'asyncio' has no attribute {name!r}")
    raise AttributeError(f"asyncio.{name} is not available in this sandbox: there are no sockets, programs or threads")
