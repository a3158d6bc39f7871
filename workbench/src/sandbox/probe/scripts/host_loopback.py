# probe: what listens on the host's 127.0.0.1
# docker: refused: Connection refused
# embedded: refused
def connect():
    import socket

    socket.create_connection(("127.0.0.1", PORT), timeout=5)


attempt(connect)
