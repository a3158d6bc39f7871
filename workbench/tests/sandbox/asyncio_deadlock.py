# sandbox: embedded
# end: Exit(1)
import asyncio


async def main():
    await asyncio.Event().wait()


asyncio.run(main())
