# end: Exit(7)
import asyncio
import atexit
import sys


class Gone:
    def __del__(self):
        raise SystemExit(3)


async def main():
    loop = asyncio.get_running_loop()
    Gone()
    loop.call_soon(sys.exit, 7)
    await asyncio.sleep(60)


atexit.register(sys.exit, 9)
asyncio.run(main())
