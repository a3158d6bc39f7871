# end: OutOfMemory
# output: any
x = "a" * 10**10
