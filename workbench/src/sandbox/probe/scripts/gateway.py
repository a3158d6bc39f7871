# probe: the gateway, and what listens on the host
# docker none: refused: Network is unreachable
# docker open: not stopped
def route():
    import socket

    # No route of this container's has a gateway; the address is that of the engine's usual one, and nothing is sent.
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("172.17.0.1", 80))


attempt(route)
