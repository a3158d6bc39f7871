# end: Exit(1)
import socket
socket.gethostbyname("museum.example")
