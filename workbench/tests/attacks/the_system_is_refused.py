# sandbox: embedded
# end: Exit(0)
# says: done: []
# never: root:
import importlib
import io
import os
import pathlib
import threading

# Nothing here does harm where it is not refused: signal 0 only asks, and what would be written is a new file.
done = []


def attempt(what, function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        print(what, type(error).__name__)
    else:
        done.append(what)


attempt("open", open, "/etc/passwd")
attempt("io.open", io.open, "/etc/passwd")
attempt("open_code", io.open_code, "/etc/passwd")
attempt("os.open", os.open, "/etc/passwd", 0)
attempt("path", pathlib.Path("/etc/passwd").read_text)
attempt("another run", os.listdir, "results")
attempt("scandir", lambda: list(os.scandir("..")))
attempt("walk", lambda: [1 / 0 for _ in os.walk("/")] or 1 / 0)
attempt("write", open, "/tmp/workbench-attack-was-here", "w")
attempt("dev", open, "/dev/tcp/127.0.0.1/80")
attempt("spawn", os.system, "true")
attempt("popen", os.popen, "true")
attempt("execv", os.execv, "/bin/true", ["true"])
attempt("fork", os.fork)
attempt("posix_spawn", os.posix_spawn, "/bin/true", ["true"], {})
attempt("kill parent", lambda: os.kill(os.getppid(), 0))
attempt("kill init", os.kill, 1, 0)
attempt("kill group", lambda: os.killpg(0, 0))
attempt("thread", threading.Thread(target=print).start)
attempt("socket", importlib.import_module, "socket")
attempt("urlopen", lambda: importlib.import_module("urllib.request").urlopen("http://127.0.0.1:1/"))
attempt("memory file", lambda: os.memfd_create("x"))
attempt("pipe", os.pipe)
attempt("environment", lambda: os.environ["PATH"])
attempt("environment", lambda: os.environb[b"WORKBENCH_WORKER"])
attempt("mknod", lambda: os.mknod("/tmp/workbench-attack-was-here"))
attempt("symlink", os.symlink, "/etc/passwd", "/tmp/workbench-attack-was-here")
print("done:", done)
