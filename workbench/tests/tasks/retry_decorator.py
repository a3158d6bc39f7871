# A decorator that tries again, with growing waits, and remembers what it met.
import functools
import time
from tools import *

attempts = []


def stubborn(times, wait=0.001):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            """Not the documentation that is shown."""
            for attempt in range(1, times + 1):
                try:
                    answer = function(*args, **kwargs)
                except ToolError as refusal:
                    attempts.append((args[0], attempt))
                    if attempt == times:
                        raise RuntimeError(f"gave up on {args[0]} after {times} attempts") from refusal
                    time.sleep(wait * 2**attempt)
                else:
                    return answer

        return wrapper

    return decorate


@stubborn(times=3)
def picture(object_id, *, folder="pictures"):
    """Where the picture of an object went."""
    return download_image(object_id, path=f"{folder}/{object_id}.jpg")["path"]


print(picture.__name__, "-", picture.__doc__)
for object_id in (1003, 1004, 1005, 1006):
    try:
        print(picture(object_id, folder="cats"))
    except RuntimeError as error:
        print("!", error, "because", error.__cause__)
print(attempts)
