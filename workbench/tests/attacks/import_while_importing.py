# end: Exit(1)
# says: RecursionError | ImportError | partially
import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        __import__(name + "x")


sys.meta_path.insert(0, Finder)
import something_that_is_not_there
