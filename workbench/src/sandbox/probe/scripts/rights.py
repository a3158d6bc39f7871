# probe: capabilities, new privileges, system calls
# docker: none, none, filtered
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
capabilities = {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
print(
    "none" if capabilities == {"0" * 16} else f"capabilities {capabilities}",
    "none" if status["NoNewPrivs"] == "1" else "new privileges",
    "filtered" if status["Seccomp"] == "2" else "unfiltered",
    sep=", ",
)
