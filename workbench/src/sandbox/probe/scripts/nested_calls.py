# probe: 10,000 calls with a limit of 1,000
# expected: stopped: it made 1000 calls
# calls: 1000
from tools import echo

for _ in range(10_000):
    echo("again")
print("allowed: 10,000 calls")
