# end: Exit(1)
def divide(n):
    return 1 / n


def each(values):
    for value in values:
        divide(value)


print("start")
each([1, 0])
