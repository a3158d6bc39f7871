# end: Exit(1)
# says: surrogates not allowed
import sys

for data in (b"\xff\xfe\x00", b"\xed\xa0\x80", b"\xc3", bytes(range(256)), b"\xf4\x90\x80\x80", memoryview(b"m")):
    sys.stdout.buffer.write(data)
    sys.stderr.buffer.write(data)
print("\0\x1b[2J\r\u202e\ufeff\U0010ffff")
print("\ud800", "\udfff", file=sys.stderr)
try:
    sys.stdout.buffer.write("text")
except TypeError as error:
    print(error)
print("a\udc80b")
