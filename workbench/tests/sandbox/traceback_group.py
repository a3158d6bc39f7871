# end: Exit(1)
import asyncio


async def fail(text):
    raise ValueError(text)


async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(fail("first"))
        group.create_task(fail("second"))


asyncio.run(main())
