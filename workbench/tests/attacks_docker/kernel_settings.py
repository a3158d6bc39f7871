# end: Exit(0)
# says: written: []
import glob

# Opened only; nothing is written where it is not refused.
written = []
for path in glob.glob("/proc/sys/**", recursive=True) + glob.glob("/sys/fs/cgroup/**", recursive=True)[:500] + [
    "/proc/sysrq-trigger", "/proc/kcore", "/dev/mem", "/dev/kmsg", "/proc/1/oom_score_adj",
]:
    try:
        with open(path, "r+b"):
            pass
    except OSError:
        continue
    if path != "/proc/1/oom_score_adj":
        written.append(path)
print("written:", written)
