# probe: the environment
# docker: WORKBENCH_SANDBOX=docker
# embedded: refused
import os

# What engines set themselves.
KNOWN = {"HOME", "HOSTNAME", "TERM", "container", *IMAGE_VARIABLES}


def beyond():
    variables = open("/proc/self/environ").read().split("\0")
    print(" ".join(entry for entry in variables if entry and entry.partition("=")[0] not in KNOWN) or "nothing")


try:
    beyond()
except OSError:
    attempt(beyond, lambda: os.environ["PATH"])
