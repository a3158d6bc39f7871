import os, socket, subprocess, sqlite3, tempfile, ctypes
print(subprocess.run(["echo", "a program"], capture_output=True, text=True).stdout.strip())
print(os.getuid(), os.getcwd(), os.listdir("/data"))
with tempfile.TemporaryFile("w+") as file:
    file.write("a file")
    file.seek(0)
    print(file.read())
database = sqlite3.connect(":memory:")
print(database.execute("select 1 + 1").fetchone())
print(bool(ctypes.CDLL(None)), socket.gethostbyname("127.0.0.1"))
