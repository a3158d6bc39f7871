# end: OutOfMemory | TimedOut
# memory_mb: 96
# seconds: 5
import resource

# What makes an allocation a `MemoryError` is for the script's own good; the engine's limit stands.
for name in (resource.RLIMIT_DATA, resource.RLIMIT_CORE, resource.RLIMIT_NOFILE):
    _, hard = resource.getrlimit(name)
    resource.setrlimit(name, (hard, hard))
kept = []
for _ in range(512):
    kept.append(b"x" * (1 << 20))
print("allowed: 512 MB")
