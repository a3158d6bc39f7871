# sandbox: embedded
# end: Exit(1)
# says: deadlock
import asyncio
from asyncio import events

import _workbench
from tools.aio import noop


async def main():
    loop = asyncio.get_running_loop()
    mine, other = loop.create_future(), loop.create_future()
    number = _workbench.start("noop", {"x": "first"})
    events._calls[number] = mine
    print(await noop("second"), await mine)
    # The answer to this number was given; nothing will wake who waits for it again.
    events._calls[number] = other
    events._calls[number + 100] = other
    print(_workbench.wait(None))
    await other


asyncio.run(main())
