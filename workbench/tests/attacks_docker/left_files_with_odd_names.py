# end: Exit(0)
# says: was not kept
# seconds: 30
import os

os.chdir(b"/data/out")
for name in (
    b"line\nfeed", b"note: forged\n", b"\xff\xfe.txt", b"\x1b[2J", b"..hidden", b"...", b" ", b"-rf", b"a" * 255, b"CON",
    b"back\\slash", "\u202eright to left".encode(), b"{}",
):
    open(name, "w").close()
os.makedirs(b"folder/within")
open(b"folder/within/file", "w").close()
