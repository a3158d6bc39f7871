# end: TimedOut | OutOfMemory
# seconds: 2
# memory_mb: 128
class Same:
    def __hash__(self):
        return 1


table = {}
while True:
    table[Same()] = 1
