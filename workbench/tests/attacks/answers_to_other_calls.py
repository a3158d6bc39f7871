# sandbox: embedded
# end: Exit(0)
# says: never answered: RuntimeError
import asyncio
from asyncio import events

import _workbench
import tools

first = _workbench.start("noop", {"x": 1})
second = _workbench.start("noop", {"x": 2})
# A call in between gets its own answer, and leaves those of the others.
print(tools.noop("own"))
answers = dict([_workbench.wait(None), _workbench.wait(None)])
print(answers == {first: (True, 1), second: (True, 2)}, _workbench.wait(None))
real = _workbench.start
real_wait = _workbench.wait


def stealing(*arguments):
    number = real("noop", {"x": 3})
    real_wait(None)
    return number


_workbench.start = stealing


async def main():
    await events.call_tool("noop", {"x": 4})


try:
    asyncio.run(main())
except RuntimeError as error:
    print("never answered:", type(error).__name__)
