# No more than three at once, in a group that fails together.
import asyncio
from tools.aio import *

under_way = most = 0


async def title_of(object_id, gate):
    global under_way, most
    async with gate:
        under_way += 1
        most = max(most, under_way)
        try:
            return (await get_object(object_id))["title"]
        finally:
            under_way -= 1


async def titles(object_ids):
    gate = asyncio.Semaphore(3)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(title_of(object_id, gate), name=f"title {object_id}") for object_id in object_ids]
    return {task.get_name(): task.result() for task in tasks}


async def main():
    print(await titles(range(1004, 1009)), 1 <= most <= 3)
    try:
        await titles([1035, 1036, 1037])
    except* ToolError as group:
        print([str(error) for error in group.exceptions])
    print("left under way:", under_way)
    done = [await earliest for earliest in asyncio.as_completed([get_object(1001), get_object(1002)])]
    print(sorted(record["objectID"] for record in done))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(5)
    except TimeoutError:
        print("too late")


asyncio.run(main())
