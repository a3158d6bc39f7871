# end: Exit(1) | Stopped | OutOfMemory
# says: xxxx | memory | printed
error = ValueError("x" * 5_000_000)
for _ in range(3):
    error.add_note("x" * 1_000_000)
raise error
