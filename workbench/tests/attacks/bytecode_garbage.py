# end: Exit(1) | Crashed | TimedOut | OutOfMemory
# seconds: 10
def victim(a, b):
    return a + b


for filling in (b"\xff", b"\x00", b"\x01", b"\x55", b"\xaa\x10"):
    try:
        code = victim.__code__.replace(co_code=filling * 400)
        exec(code)
        victim.__code__ = code
        victim(1, 2)
    except Exception as error:
        print(type(error).__name__)
raise RuntimeError("it was survived")
