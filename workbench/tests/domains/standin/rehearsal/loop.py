# Fetches three objects at once, one of which does not exist, and then calls noop.
import asyncio

from tools.aio import *


async def title(object_id):
    try:
        return (await get_object(object_id))["title"]
    except ToolError as refusal:
        return f"refused: {refusal}"


async def main():
    found = await search_collection(limit=3, offset=34)
    titles = await asyncio.gather(*[title(object_id) for object_id in found["object_ids"]])
    rows = await query_database(sql="SELECT 1")
    print(titles, type(rows).__name__, await noop(x={"deep": [1, None]}))


asyncio.run(main())
