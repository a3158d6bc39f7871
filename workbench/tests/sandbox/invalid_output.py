# end: Exit(1)
import sys

print("\ud800", file=sys.stderr)
sys.stdout.reconfigure(encoding="utf-8")
print("\ud800")
