# end: Exit(1)
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("bad", 3) from error
except ValueError:
    raise KeyError("k")
