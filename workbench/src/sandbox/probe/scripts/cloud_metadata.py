# probe: the address of a cloud's metadata
# docker none: refused: Network is unreachable
# docker open: not stopped
def route():
    import socket

    # Looks for a route and sends nothing.
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("169.254.169.254", 80))


attempt(route)
