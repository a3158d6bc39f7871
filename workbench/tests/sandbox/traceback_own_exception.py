# end: Exit(1)
class TooFew(Exception):
    """Not enough."""


error = TooFew("hello")
error.add_note("a note")
raise error
