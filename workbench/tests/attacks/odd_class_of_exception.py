# end: Exit(1)
class Class(type):
    __name__ = property(lambda self: 1 / 0)
    __module__ = property(lambda self: 1 / 0)


class Odd(Exception, metaclass=Class):
    __notes__ = 5


raise Odd("odd")
