# end: Exit(1)
from tools.aio import *

title = (await get_object(1001))["title"]


def broken(n):
    return n + undefined_name


text = """a string
over lines"""
print(title)
for i in range(3):
    await noop(i)
    if i == 1:
        broken(i)
