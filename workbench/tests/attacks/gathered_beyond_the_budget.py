# calls: 100
# end: Stopped
# says: the budget of 100 tool calls
import asyncio

from tools.aio import *

await asyncio.gather(*[noop(i) for i in range(10_000)])
