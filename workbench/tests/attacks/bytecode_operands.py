# end: Exit(1) | Crashed | TimedOut | OutOfMemory
# seconds: 10
import itertools


def victim(a, b):
    for c in (a, b):
        try:
            yield c
        finally:
            a = b


# Every instruction with an operand that points nowhere, one after the other.
original = victim.__code__.co_code
for place in range(0, len(original), 2):
    changed = bytearray(original)
    changed[place + 1 : place + 2] = b"\xfe"
    try:
        victim.__code__ = victim.__code__.replace(co_code=bytes(changed))
        print(list(itertools.islice(victim(1, 2), 10)))
    except Exception as error:
        print(type(error).__name__)
raise RuntimeError("it was survived")
