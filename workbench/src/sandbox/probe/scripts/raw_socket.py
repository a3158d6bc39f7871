# probe: a raw socket
# docker: refused: Operation not permitted
# embedded: refused
import importlib


def raw(family, protocol):
    socket = importlib.import_module("socket")
    socket.socket(getattr(socket, family), socket.SOCK_RAW, protocol)


attempt(lambda: raw("AF_INET", 1), lambda: raw("AF_PACKET", 3))
