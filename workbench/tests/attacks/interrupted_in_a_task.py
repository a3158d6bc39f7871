# end: Exit(130)
# says: KeyboardInterrupt
import asyncio


async def interrupt():
    raise KeyboardInterrupt


async def main():
    await asyncio.gather(interrupt(), asyncio.sleep(60))


asyncio.run(main())
