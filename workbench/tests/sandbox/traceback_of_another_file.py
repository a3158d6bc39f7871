# sandbox: embedded
# end: Exit(1)
exec(compile("raise ValueError", "/etc/passwd", "exec"))
