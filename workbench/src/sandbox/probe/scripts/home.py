# probe: a home folder
# docker: not there
# embedded: refused
import os


def homes():
    found = [os.path.expanduser("~")] + [os.path.join("/home", name) for name in os.listdir("/home")]
    there = [home for home in found if os.path.isdir(home)]
    print(there or "not there")


try:
    homes()
except OSError:
    attempt(homes)
