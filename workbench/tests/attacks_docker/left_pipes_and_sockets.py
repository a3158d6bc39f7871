# end: Exit(0)
# says: was not kept
# seconds: 30
import os
import socket

os.mkfifo("/data/out/pipe")
socket.socket(socket.AF_UNIX).bind("/data/out/socket")
open("/data/out/file", "w").close()
