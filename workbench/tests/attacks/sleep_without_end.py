# end: TimedOut
# seconds: 5
# says: slept
import asyncio
import time

for seconds in (-1, float("nan"), float("inf"), 10**30, "x"):
    try:
        time.sleep(seconds)
    except Exception as error:
        print(type(error).__name__)
print("slept", flush=True)
asyncio.run(asyncio.sleep(float("inf")))
