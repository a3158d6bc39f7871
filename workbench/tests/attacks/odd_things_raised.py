# end: Exit(1)
# says: deriving from BaseException
# docker says: must derive from BaseException
class NoException:
    pass


class Liar(Exception):
    def __new__(cls):
        return 5

    __module__ = None


for thing in (5, None, NoException, NoException(), Liar, "text", (ValueError, 1), type, ...):
    try:
        raise thing
    except BaseException as error:
        print(type(error).__name__, error)
try:
    raise ValueError from 5
except BaseException as error:
    print(type(error).__name__, error)
raise 5
