# probe: /proc/1/environ
# docker: WORKBENCH_SANDBOX=docker
# What engines set themselves.
KNOWN = {"HOME", "HOSTNAME", "TERM", "container", *IMAGE_VARIABLES}

variables = open("/proc/1/environ").read().split("\0")
print(" ".join(entry for entry in variables if entry and entry.partition("=")[0] not in KNOWN) or "nothing")
