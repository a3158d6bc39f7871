try:
    bytearray(10**10)
except MemoryError:
    print("refused")
print("goes on")
