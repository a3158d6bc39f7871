# end: Exit(1)
import asyncio

from tools.aio import *


async def main():
    await get_object(37 * 30)


asyncio.run(main())
