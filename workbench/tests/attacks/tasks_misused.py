# end: Exit(1)
# says: deadlock
# seconds: 10
# docker end: TimedOut
# docker says: KILLED
import asyncio

from tools.aio import *


def attempt(function):
    try:
        print(function())
    except BaseException as error:
        print(type(error).__name__, error)


async def never():
    await asyncio.get_running_loop().create_future()


async def cancelled():
    task = asyncio.create_task(noop(1))
    await asyncio.sleep(0)
    task.cancel()
    await task


async def itself():
    await asyncio.current_task()


async def closes():
    asyncio.get_running_loop().close()


async def stops():
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def refuses():
    while True:
        try:
            await noop(1)
            raise asyncio.CancelledError
        except asyncio.CancelledError:
            break


for coroutine in (cancelled, itself, closes, stops, refuses):
    attempt(lambda: asyncio.run(coroutine()))
noop("never awaited")
attempt(lambda: asyncio.run(asyncio.wait_for(asyncio.sleep(float("inf")), 0.01)))
attempt(lambda: asyncio.run(asyncio.wait_for(asyncio.gather(noop(1), never()), 0.01)))
attempt(lambda: asyncio.run(5))
asyncio.run(never())
