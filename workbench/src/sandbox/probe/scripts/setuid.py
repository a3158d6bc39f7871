# probe: another user (setuid, setgid)
# docker: refused: Operation not permitted
import os

attempt(lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0, 0, 0))
