# end: TimedOut | Exit(1)
# seconds: 2
import re

print(re.match(r"(a*)*(a*)*$", "a" * 60 + "b"))
print(re.sub(r"(x+x+)+y", "", "x" * 60))
raise TimeoutError
