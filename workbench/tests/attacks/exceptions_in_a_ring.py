# end: Exit(1)
# says: ValueError: two
one, two = KeyError("one"), ValueError("two")
one.__cause__ = two
two.__context__ = one
one.__context__ = one
raise two
