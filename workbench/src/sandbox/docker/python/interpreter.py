"""The interpreter of scripts: calls go out on one descriptor, answers come in on another, in any order and for many
threads at once."""

import _thread
import json
import linecache
import os
import sys
import threading
import time
import types


def shared(name, source):
    """A module of `sandbox/python`; the same in every sandbox."""
    module = types.ModuleType(name)
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    sys.modules[name] = module
    return module


tools = shared("_tools", TOOLS_MODULE)
ending = shared("_ending", ENDING_MODULE)

MAX_ARGUMENTS = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_NAME = 1000

# What scripts import most, brought in while nobody waits.
AHEAD = ("collections", "re", "asyncio", "typing", "dataclasses", "datetime", "statistics", "traceback", "concurrent.futures.thread")

# Seconds for which a job is waited for before that: where a script waits already, an import would keep it waiting.
FIRST_LOOK = 0.05

# As `inspect` has it, whose import takes longer than many a script.
CO_COROUTINE = 0x80

# Frames of these are not the script's.
OWN_FILES = ("<interpreter>", "<_tools>", "<_ending>", "<tools>", "<string>")


class Link:
    """The calls under way."""

    def __init__(self, incoming, outgoing):
        self._incoming = open(incoming, "rb", buffering=65536)
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._last = 0
        # The last call of which it was told that the script waits for it, and how many up to it have no answer.
        self._told = 0
        self._awaited = 0
        # The event loop of each call whose answer was not handed on, or none, and who takes the answer.
        self._open = {}
        self._arrived = {}
        self._jobs = []
        self._has_job = threading.Semaphore(0)

    def send(self, kind, body=b"", **head):
        """Call with the lock held."""
        left = memoryview(json.dumps({"kind": kind, **head, "len": len(body)}).encode() + b"\n" + body)
        while left:
            left = left[os.write(self._outgoing, left) :]

    def start(self, tool, arguments, taker, loop=None):
        """Sends a call. Its answer, `(ok, body)`, becomes the result of `taker`, a future of `loop`; without a loop,
        `taker(ok, body)` is called in another thread."""
        if os.getpid() != self._process:
            raise OSError("tools can be called in the script's own process only; threads are fine")
        if len(tool.encode("utf-8", "replace")) > MAX_NAME:
            raise ValueError(f"a tool's name of {len(tool)} characters is too long")
        body = encode(arguments)
        with self._lock:
            self._last += 1
            number = self._last
            self._open[number] = loop, taker
            self.send("call", body, id=number, tool=tool)

    def begin(self, job):
        """Says that a script begins. Nobody answers what the one before has left open."""
        with self._lock:
            self._open.clear()
            self._arrived.clear()
            self._awaited = 0
            self.send("started", job=job)

    def tell_wait(self, loop):
        """Says that everything in the script waits for answers, once for the calls that were made until then. Tells
        whether this loop has calls among them."""
        if os.getpid() != self._process:
            return False
        with self._lock:
            if self._open and self._told < self._last:
                self._told = self._last
                self._awaited = len(self._open) - len(self._arrived)
                self.send("waiting")
            return any(owner is loop for owner, _ in self._open.values())

    def read(self):
        """Takes in what the host says, until it says no more."""
        while line := self._incoming.readline():
            head = json.loads(line)
            body = self._incoming.read(head["len"])
            if head["kind"] == "run":
                self._jobs.append(json.loads(body))
                self._has_job.release()
            else:
                self.hand_on(self.take(head["id"], (head["ok"], body)))

    def take(self, number, answer):
        """Takes in an answer; returns those that may be handed on, in the order of their calls. Where it was told that
        the script waits, these are all that it waits for, or none: what a script does next depends on its code alone,
        never on which answer came first."""
        with self._lock:
            if number not in self._open:
                return []
            self._arrived[number] = answer
            self._awaited -= number <= self._told
            if self._awaited:
                return []
            arrived = sorted(self._arrived.items())
            self._arrived.clear()
            return [(*self._open.pop(number), answer) for number, answer in arrived]

    def hand_on(self, answers):
        """To each loop all that it gets at once."""
        futures = {}
        for loop, taker, answer in answers:
            if loop is None:
                taker(*answer)
            else:
                futures.setdefault(loop, []).append((taker, answer))
        for loop, settled in futures.items():
            try:
                loop.call_soon_threadsafe(settle, settled)
            except RuntimeError:
                # The loop is over, and nobody waits.
                pass

    def has_job(self, patience=0):
        if self._has_job.acquire(timeout=patience):
            self._has_job.release()
        return bool(self._jobs)

    def next_job(self):
        self._has_job.acquire()
        return self._jobs.pop(0)


def settle(answers):
    for future, answer in answers:
        if not future.done():
            future.set_result(answer)


def encode(arguments):
    """The arguments as JSON, with the refusals of the embedded sandbox."""
    check_depth(arguments)
    try:
        body = json.dumps(arguments, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        text = "a text in the arguments of a tool call has a lone surrogate and is not valid Unicode"
        raise ValueError(text) from None
    if len(body) > MAX_ARGUMENTS:
        raise ValueError(f"the arguments of a tool call are limited to {MAX_ARGUMENTS >> 20} MB")
    return body


def check_depth(arguments):
    """What reads the arguments on the other side stops at 128 levels."""
    level = [value for value in arguments.values() if isinstance(value, (dict, list, tuple))]
    if not level:
        return
    for _ in range(MAX_DEPTH):
        within = (item.values() if isinstance(item, dict) else item for item in level)
        # Each container once a level: what stands inside itself would grow without end, and `json` refuses it.
        found = {id(value): value for values in within for value in values if isinstance(value, (dict, list, tuple))}
        level = list(found.values())
        if not level:
            return
    try:
        json.dumps(arguments)
    except RecursionError:
        pass
    raise RecursionError(f"the arguments of a tool call are nested deeper than {MAX_DEPTH} levels")


def tool_functions(link):
    """What `tools` and `tools.aio` call."""

    def call(tool, arguments, optional=()):
        answer = []
        waiting = _thread.allocate_lock()
        waiting.acquire()

        def answered(ok, body):
            answer.append((ok, body))
            waiting.release()

        link.start(tool, tools.given(arguments, optional), answered)
        waiting.acquire()
        return value_of(*answer[0])

    async def call_tool(tool, arguments):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        link.start(tool, arguments, future, loop)
        return value_of(*await future)

    def call_later(tool, arguments, optional=()):
        coroutine = call_tool(tool, tools.given(arguments, optional))
        coroutine.__name__ = coroutine.__qualname__ = tool
        return coroutine

    return call, call_later


def value_of(ok, body):
    if ok:
        return json.loads(body)
    raise tools.ToolError(body.decode("utf-8", "replace"))


def tell(kind, exception, trace):
    """The hook for uncaught exceptions: as Python tells them, without the frames that are not the script's."""
    import traceback

    if isinstance(exception, SyntaxError) and exception.filename in linecache.cache and not exception.text:
        # Some are found late, where Python looks for the line in a file.
        exception.text = linecache.getline(exception.filename, exception.lineno or 0)
    report = traceback.TracebackException(kind, exception, trace)
    hide_own_frames(report)
    sys.stderr.write("".join(report.format()))
    sys.stderr.write("".join(note + "\n" for note in notes(exception)))


def notes(exception):
    """The way on where Python's own words, which are meant for a machine of one's own, name none."""
    causes = []
    while exception is not None and all(exception is not cause for cause in causes):
        causes.append(exception)
        exception = exception.__cause__ or (None if exception.__suppress_context__ else exception.__context__)
    for cause in causes:
        name = cause.name if isinstance(cause, ModuleNotFoundError) else None
        if isinstance(name, str) and "." not in name:
            advice = f"; {tools.advice}" if name == "tools" else ""
            yield f"note: this sandbox has {tools.library()}, and its image brings no package {name!r}{advice}"
    if any(is_of_network(cause) for cause in causes) and not has_network():
        yield f"note: there is no network in this sandbox; {tools.advice}"


def is_of_network(exception):
    if not isinstance(exception, OSError):
        return False
    import errno
    import socket

    return isinstance(exception, socket.gaierror) or exception.errno == errno.ENETUNREACH


def has_network():
    import socket

    return any(name != "lo" for _, name in socket.if_nameindex())


def hide_own_frames(report):
    """Of a report and of all that it leads to, which may be a long chain."""
    reports = [report]
    while reports:
        report = reports.pop()
        report.stack[:] = [frame for frame in report.stack if not is_own(frame.filename)]
        others = (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ()))
        reports += [other for other in others if other is not None]


def is_own(filename):
    library = os.path.dirname(os.__file__)
    folders = tuple(os.path.join(library, name) + os.sep for name in ("asyncio", "concurrent"))
    return filename in OWN_FILES or filename.startswith(folders)


def tell_plainly(exception):
    os.write(2, f"{type.__repr__(type(exception))}: an uncaught exception that cannot be told\n".encode())


def limit_memory(size):
    """Makes an allocation that is too large a `MemoryError`, which says where, before the container ends the process."""
    import resource

    # A stack of its usual size for each thread would count as taken.
    threading.stack_size(1 << 21)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def run(job, main, functions):
    """Runs a script in the namespace of `main`: its exit code, and whether a `MemoryError` ended it."""
    source, file = job["source"], job["file"]
    main.__file__ = file
    sys.argv = [file]
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[file] = (len(source), None, lines, file)

    def script():
        import _ast

        if job["domain_module"] is None:
            tools.place(job["tools_module"], functions[1], main.__dict__)
        else:
            tools.install(job["tools_module"], job["domain_module"], *functions)
        compiled = compile(source, file, "exec", flags=_ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if compiled.co_flags & CO_COROUTINE:
            import asyncio

            asyncio.run(awaited(compiled, main.__dict__))
        else:
            exec(compiled, main.__dict__)

    # What Python does at its end. In an interpreter that goes on threads do as well, and what is to be done then has time.
    at_end = () if job["keep_state"] else (threading._shutdown, ending.run_exit_functions)
    return ending.end_of((script, *at_end, ending.flush), tell_plainly)


async def awaited(compiled, namespace):
    await eval(compiled, namespace)


def announce_waits(link):
    """Has every event loop of the script say when it has nothing left to do but to wait. Until its answers are there its
    clock stands, and with it the script's timers: how long somebody takes to answer changes nothing."""
    import asyncio
    import selectors

    class Selector(selectors.DefaultSelector):
        loop = None
        stood = 0

        def select(self, timeout=None):
            ready = super().select(0)
            if ready or timeout == 0:
                return ready
            if not link.tell_wait(self.loop):
                return super().select(timeout)
            began = time.monotonic()
            ready = super().select()
            self.stood += time.monotonic() - began
            return ready

    class Loop(asyncio.SelectorEventLoop):
        def __init__(self):
            selector = Selector()
            super().__init__(selector)
            selector.loop = self

        def time(self):
            return super().time() - self._selector.stood

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self):
            return Loop()

    asyncio.set_event_loop_policy(Policy())


def import_ahead(link):
    """Brings in what scripts import most, one after the other, until a job comes."""
    for name in AHEAD:
        if link.has_job():
            return
        __import__(name)


def fresh_main():
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    return main


def main(incoming, outgoing, over):
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", 1, encoding="utf-8", errors="strict", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.excepthook = sys.__excepthook__ = tell
    link = Link(incoming, outgoing)
    threading.Thread(target=link.read, name="answers", daemon=True).start()
    link.send("ready")
    if not link.has_job(FIRST_LOOK):
        import_ahead(link)
    functions = tool_functions(link)
    space = fresh_main()
    limited = False
    while True:
        job = link.next_job()
        if not limited:
            limit_memory(job["memory"])
            limited = True
        link.begin(job["number"])
        if job["announce_waiting"]:
            announce_waits(link)
        code, out_of_memory = run(job, space, functions)
        os.write(over, bytes((code & 0xFF, out_of_memory)))
        if not job["keep_state"]:
            # Whoever goes on here is a thread that the script left; the host ends it.
            space = fresh_main()
