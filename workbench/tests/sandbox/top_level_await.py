from tools.aio import *
import asyncio

page = await search_collection(query="cat", limit=5)
text = """multi
line
string"""
x: int = 3


async def title(i):
    global x
    x += 1
    return (await get_object(i))["title"]


for i in page["object_ids"]:
    y: str = await title(i)
    print(i, y)
print(x, text.count("\n"))
print([await title(i) for i in page["object_ids"] if i % 2])
async with asyncio.timeout(50):
    z = await asyncio.gather(*[title(i) for i in range(1001, 1004)])
print(z, x)
if (n := await noop(5)) > 4:
    class Kept:
        value = n
try:
    await get_object(37 * 30)
except ToolError as error:
    print("caught", error, type(error).__name__)
print(Kept.value, sorted(name for name in globals() if not name.startswith("_") and len(name) < 3))
