# end: TimedOut | OutOfMemory | Exit(1)
# seconds: 3
# memory_mb: 128
import asyncio


async def two():
    while True:
        asyncio.create_task(two())
        await asyncio.sleep(0)


asyncio.run(two())
