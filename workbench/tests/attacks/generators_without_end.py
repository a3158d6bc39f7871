# end: TimedOut | OutOfMemory
# seconds: 2
# memory_mb: 128
import itertools


def chain(inner):
    yield from inner


generator = itertools.count()
for _ in range(200):
    generator = chain(generator)
print(sum(1 for _ in zip(generator, iter(int, 1))))
