# probe: a full /tmp
# docker: refused: No space left on device
def fill():
    with open("/tmp/filling", "wb") as file:
        # No more than these 100 MB, should nothing stop it.
        for _ in range(100):
            file.write(b"x" * (1 << 20))
    return "100 MB"


attempt(fill)
