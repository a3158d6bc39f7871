# sandbox: embedded
# end: Exit(0)
# says: read: 0
# never: root:
import importlib.machinery
import importlib.util
import pkgutil
import runpy
import sys
import zipimport

read = 0


def attempt(function):
    global read
    try:
        print(function())
    except BaseException as error:
        print(type(error).__name__)
    else:
        read += 1


sys.path[:0] = ["/etc", "/", "/proc/self", "/usr/lib/python3/dist-packages"]
sys.path_importer_cache.clear()
for loader in (
    importlib.machinery.SourceFileLoader,
    importlib.machinery.SourcelessFileLoader,
    importlib.machinery.ExtensionFileLoader,
):
    attempt(lambda: loader("passwd", "/etc/passwd").get_data("/etc/passwd"))
    attempt(lambda: loader("passwd", "/etc/passwd").load_module())
attempt(lambda: zipimport.zipimporter("/etc/passwd"))
attempt(lambda: runpy.run_path("/etc/passwd"))
attempt(lambda: importlib.import_module("passwd"))
attempt(lambda: pkgutil.get_data("json", "../../../etc/passwd").decode())
attempt(lambda: importlib.util.spec_from_file_location("passwd", "/etc/passwd").loader.get_data("/etc/passwd"))
print("read:", read)
