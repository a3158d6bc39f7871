# end: Exit(1)
from tools import *


def fetch(i):
    return get_object(i)


print(fetch(1001)["title"])
fetch(37 * 30)
