# end: Exit(1) | Crashed | OutOfMemory
group = ValueError("inner")
for _ in range(2000):
    group = ExceptionGroup("group", [group])
raise group
