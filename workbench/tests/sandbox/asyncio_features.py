import asyncio

from tools.aio import *


async def double(i, delay=0):
    await asyncio.sleep(delay)
    return await noop(i * 2)


async def main():
    print(await asyncio.gather(double(1, 0.02), double(2), double(3, 0.01)))
    print([str(r) for r in await asyncio.gather(get_object(37 * 30), noop(1), return_exceptions=True)])

    limit = asyncio.Semaphore(2)
    running, most = 0, 0

    async def limited(i):
        nonlocal running, most
        async with limit:
            running += 1
            most = max(most, running)
            await noop(i)
            running -= 1

    await asyncio.gather(*(limited(i) for i in range(7)))
    print("at most", most)

    try:
        await asyncio.wait_for(asyncio.sleep(60), timeout=0.01)
    except asyncio.TimeoutError:
        print("timed out")
    try:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
    except TimeoutError:
        print("timed out again")

    done, pending = await asyncio.wait(
        [asyncio.create_task(double(1)), asyncio.create_task(asyncio.sleep(60))], return_when=asyncio.FIRST_COMPLETED
    )
    print([task.result() for task in done], len(pending))
    for task in pending:
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            print("cancelled", task.cancelled())

    print(sorted([await future for future in asyncio.as_completed([double(i) for i in range(4)])]))

    queue = asyncio.Queue(maxsize=1)

    async def produce():
        for i in range(3):
            await queue.put(await noop(i))
        await queue.put(None)

    producer = asyncio.create_task(produce(), name="producer")
    while (item := await queue.get()) is not None:
        print("item", item)
    await producer
    print(producer.get_name(), producer.done())

    async with asyncio.TaskGroup() as group:
        first = group.create_task(double(20))
        second = group.create_task(double(21))
    print(first.result(), second.result())

    lock, event = asyncio.Lock(), asyncio.Event()
    async with lock:
        print(lock.locked())
    asyncio.get_running_loop().call_later(0.01, event.set)
    print(await event.wait())
    print(await asyncio.to_thread(sum, [1, 2]), await asyncio.shield(double(4)))
    print(await asyncio.get_running_loop().run_in_executor(None, len, "abc"))

    async def numbers():
        for i in range(3):
            yield await noop(i)

    print([i async for i in numbers()], asyncio.iscoroutinefunction(main), asyncio.current_task().get_name()[:5])


asyncio.run(main())
print(asyncio.run(double(5)))
loop = asyncio.new_event_loop()
print(loop.run_until_complete(double(6)))
loop.close()
