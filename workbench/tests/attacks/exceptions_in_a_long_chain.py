# end: Exit(1)
# says: ValueError: 2999
last = None
for number in range(3000):
    error = ValueError(number)
    error.__context__ = last
    last = error
raise last
