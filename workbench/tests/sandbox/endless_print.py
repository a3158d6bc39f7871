# end: Stopped("it printed more than 64 MB")
# output: any
while True:
    print("x" * 100000)
