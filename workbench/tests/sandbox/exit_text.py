# end: Exit(1)
import sys

print("to out")
print("to err", file=sys.stderr)
sys.exit("bad thing")
