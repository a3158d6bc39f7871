# probe: a line of a file, by a traceback
# embedded: not shown
import io
import traceback

shown = io.StringIO()
try:
    exec(compile("raise ValueError", "/etc/passwd", "exec"))
except ValueError:
    traceback.print_exc(file=shown)
print("shown" if ":/" in shown.getvalue() else "not shown")
