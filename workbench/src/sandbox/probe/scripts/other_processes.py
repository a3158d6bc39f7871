# probe: processes of others (ptrace)
# docker: there is none to be seen
import os


def user(process):
    return os.stat(f"/proc/{process}").st_uid


# Its own it may trace: the one that supervises it may be taken over, and nothing is gained.
others = [process for process in os.listdir("/proc") if process.isdigit() and user(process) != os.getuid()]
print(f"sees {len(others)}" if others else "there is none to be seen")
