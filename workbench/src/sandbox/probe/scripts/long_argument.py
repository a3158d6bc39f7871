# probe: an argument of 100 MB
# expected: refused: ValueError
# memory_mb: 512
from tools import echo

attempt(lambda: echo("x" * 100_000_000))
