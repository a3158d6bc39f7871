# end: Exit(1)
from tools.aio import *


def wrong():
    return await get_object(1)


print(await noop(1))
