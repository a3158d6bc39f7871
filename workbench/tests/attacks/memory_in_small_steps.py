# end: OutOfMemory
# memory_mb: 64
# seconds: 60
kept = []
while True:
    try:
        kept.append(bytearray(10_000))
    except MemoryError:
        kept.append(1)
