# seconds: 2
# end: TimedOut
print("before", flush=True)
while True:
    pass
