# cases: 5
# end: Crashed | Exit(1)
# says: the interpreter met a bug of its own | it was survived
CASE = 0


def victim(a, b):
    return a + b


filling = (b"\xff", b"\x00", b"\x01", b"\x55", b"\xaa\x10")[CASE]
try:
    code = victim.__code__.replace(co_code=filling * 400)
    exec(code)
    victim.__code__ = code
    victim(1, 2)
except Exception as error:
    print(type(error).__name__)
raise RuntimeError("it was survived")
