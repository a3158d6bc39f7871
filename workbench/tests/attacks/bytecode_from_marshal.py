# end: Exit(1) | Crashed | TimedOut | OutOfMemory
# seconds: 10
import marshal
import random

random.seed(1)
whole = marshal.dumps(compile("def f(x):\n    return [x for y in x]\nprint(f('ab'))", "m", "exec"))
for _ in range(300):
    cut = bytearray(whole)
    for _ in range(random.randint(1, 5)):
        cut[random.randrange(len(cut))] = random.randrange(256)
    try:
        exec(marshal.loads(bytes(cut[: random.randint(1, len(cut))])))
    except Exception:
        pass
for text in (b"", b"\xff" * 100, b"[" * 100000, b"(\xff\xff\xff\x7f", b"s\xff\xff\xff\x7f"):
    try:
        marshal.loads(text)
    except Exception as error:
        print(type(error).__name__)
raise RuntimeError("it was survived")
