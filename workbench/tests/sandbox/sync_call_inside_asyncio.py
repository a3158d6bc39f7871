import asyncio

import tools
from tools import aio


async def main():
    slow = [asyncio.create_task(aio.noop(i)) for i in range(3)]
    await asyncio.sleep(0)
    print(tools.noop("now"), [await task for task in slow])


asyncio.run(main())
