# probe: user and groups
# docker: 1000 1000 [1000]
import os

print(os.getuid(), os.getgid(), os.getgroups())
