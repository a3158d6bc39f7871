# memory_mb: 64
# end: OutOfMemory
# output: any
rows = []
while True:
    rows.append("x" * 1000)
