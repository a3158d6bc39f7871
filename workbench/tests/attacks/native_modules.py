# sandbox: embedded
# end: Exit(0)
# says: imported: []
import importlib

imported = []
for name in """ctypes _ctypes cffi _cffi_backend mmap fcntl _posixsubprocess resource _socket socket select _ssl
        signal pwd grp termios pty tty syslog _multiprocessing multiprocessing subprocess nt winreg msvcrt _winapi
        sqlite3 _sqlite3 readline curses dbm.gnu _gdbm ensurepip pip distutils _testcapi _testinternalcapi
        _xxsubinterpreters _interpreters""".split():
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    imported.append(name)
print("imported:", imported)
