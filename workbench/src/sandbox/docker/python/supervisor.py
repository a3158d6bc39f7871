"""The first process of ours in the container. It starts the interpreter of scripts and outlives it: it hands on what is
printed, tells how a script ended, and ends everything when the host is gone.

The container's standard output belongs to the interpreter, which asks for calls there, its standard input to both;
its standard error belongs to this process. So each stream has one writer, and no frame is cut in two by another.
"""

import _signal
import os
import select
import sys

OUT = "/data/out"


def write(kind, body=b"", **head):
    """A frame on standard error, which the host reads: a line of JSON with a length, then the body."""
    fields = "".join(f',"{name}":{value}' for name, value in head.items())
    left = memoryview(f'{{"kind":"{kind}"{fields},"len":{len(body)}}}\n'.encode() + body)
    while left:
        left = left[os.write(2, left) :]


def drain(descriptor, stream):
    """Hands on what is in the pipe; false at its end."""
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        write("output", chunk, stream=stream)


def left_files():
    """Whether the script left something to be fetched. Who cannot tell says yes."""
    try:
        return bool(os.listdir(OUT))
    except OSError:
        return True


def end_all():
    """The host is gone, and with it everybody who could want something from here."""
    try:
        os.kill(-1, 9)
    finally:
        os._exit(0)


def supervise(child, printed, told):
    """Until the host is gone: `printed` are the descriptors of the script's output and error, `told` the one where the
    interpreter says that a script is over."""
    woken, wake = os.pipe()
    for descriptor in (*printed, told, woken, wake):
        os.set_blocking(descriptor, False)
    _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    # Of standard input only its end: the interpreter reads it.
    poll.register(0, 0)
    for descriptor in (*printed, told, woken):
        poll.register(descriptor, select.POLLIN)

    def drain_all():
        for stream, descriptor in enumerate(printed, 1):
            drain(descriptor, stream)

    lives = True
    while True:
        if lives and (ended := os.waitpid(child, os.WNOHANG))[0]:
            lives = False
            drain_all()
            code = os.waitstatus_to_exitcode(ended[1])
            write("died", status=code, files=str(left_files()).lower())
        for descriptor, events in poll.poll():
            if descriptor == 0:
                end_all()
            elif descriptor == woken:
                os.read(woken, 4096)
            elif descriptor == told:
                # One byte each: the exit code, and whether memory ran out.
                words = os.read(told, 2)
                if len(words) == 2:
                    drain_all()
                    out_of_memory = str(words[1] != 0).lower()
                    write("end", code=words[0], out_of_memory=out_of_memory, files=str(left_files()).lower())
                elif not words:
                    poll.unregister(told)
            elif not drain(descriptor, 1 + printed.index(descriptor)):
                poll.unregister(descriptor)


def main(interpreter, tools, ending):
    pipes = [os.pipe() for _ in range(3)]
    child = os.fork()
    if child:
        for _, writing in pipes:
            os.close(writing)
        os.close(1)
        supervise(child, [pipes[0][0], pipes[1][0]], pipes[2][0])
    incoming, outgoing, over = os.dup(0), os.dup(1), pipes[2][1]
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, place in ((nothing, 0), (pipes[0][1], 1), (pipes[1][1], 2)):
        os.dup2(descriptor, place)
        os.close(descriptor)
    for reading, _ in pipes:
        os.close(reading)
    # Built-in names of its own: a script may replace those that all others share.
    space = {"__name__": "_interpreter", "__builtins__": dict(vars(__builtins__))}
    space |= {"TOOLS_MODULE": tools, "ENDING_MODULE": ending}
    exec(compile(interpreter, "<interpreter>", "exec"), space)
    space["main"](incoming, outgoing, over)


main(*sys.argv[1:4])
