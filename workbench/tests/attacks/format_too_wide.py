# end: OutOfMemory | Exit(1)
# seconds: 20
# memory_mb: 64
for make in (
    lambda: "%*d" % (10**9, 1),
    lambda: f"{1:{10**9}}",
    lambda: "{:>1000000000}".format("x"),
    lambda: "x".center(10**9),
    lambda: ("x" * 1000).join(["y"] * 10**6),
    lambda: "x".replace("x", "y" * 10**6) * 10**4,
    lambda: bytes(10**10),
    lambda: bytearray(10**12),
):
    try:
        print(len(make()))
    except (MemoryError, OverflowError, ValueError) as error:
        print(type(error).__name__)
raise MemoryError
