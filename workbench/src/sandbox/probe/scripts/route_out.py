# probe: a route to other machines
# docker none: refused: Network is unreachable
# docker open: not stopped
# embedded: refused
def route():
    import socket

    # A datagram's socket looks for a route and sends nothing; the address is one of those made for examples.
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("203.0.113.1", 80))


attempt(route)
