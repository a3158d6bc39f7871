# probe: memory without end
# expected: out of memory
kept = []
# No more than these 512 MB, should nothing stop it.
for _ in range(512):
    kept.append(bytearray(1 << 20))
print("allowed: 512 MB")
