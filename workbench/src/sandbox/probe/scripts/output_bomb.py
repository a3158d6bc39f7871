# probe: 1 GB of output
# expected: stopped: it printed more than 64 MB
megabyte = "x" * 999_999
for _ in range(1000):
    print(megabyte)
print("allowed: 1 GB")
