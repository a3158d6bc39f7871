# end: OutOfMemory | Exit(1) | TimedOut | Crashed
# seconds: 3
# memory_mb: 64
print(len(str((1 << 10**9) ** 5)))
