# end: Exit(1)
import asyncio

from tools.aio import get_object


async def inner():
    await get_object(37 * 30)


await asyncio.gather(inner())
