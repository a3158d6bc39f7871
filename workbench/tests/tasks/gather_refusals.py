# Many records at once; refusals are sorted out afterwards.
import asyncio
from tools.aio import *


async def described(object_id):
    record, picture = await asyncio.gather(get_object(object_id), download_image(object_id), return_exceptions=True)
    return object_id, record, picture


async def main():
    served, without_record, without_picture = [], [], []
    for object_id, record, picture in await asyncio.gather(*map(described, range(1030, 1042))):
        if isinstance(record, ToolError):
            without_record.append(object_id)
        elif isinstance(picture, BaseException):
            without_picture.append((object_id, str(picture)))
        else:
            served.append((object_id, picture["bytes"]))
    return served, without_record, without_picture


served, without_record, without_picture = asyncio.run(main())
print(len(served), served[0], served[-1])
print(without_record)
print(*without_picture, sep="\n")
