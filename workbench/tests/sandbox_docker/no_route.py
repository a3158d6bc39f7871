# end: Exit(1)
import socket
socket.socket().connect(("192.0.2.1", 80))
