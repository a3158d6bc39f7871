# sandbox: embedded
# cases: 33
# end: Crashed | Exit(1)
# says: the interpreter met a bug of its own | it was survived
import itertools

CASE = 0


def victim(a, b):
    for c in (a, b):
        try:
            yield c
        finally:
            a = b


# Each instruction in turn with an operand that points nowhere.
original = victim.__code__.co_code
assert len(original) == 2 * 33, "a case for each instruction"
changed = bytearray(original)
changed[CASE * 2 + 1 : CASE * 2 + 2] = b"\xfe"
try:
    victim.__code__ = victim.__code__.replace(co_code=bytes(changed))
    print(list(itertools.islice(victim(1, 2), 10)))
except Exception as error:
    print(type(error).__name__)
raise RuntimeError("it was survived")
