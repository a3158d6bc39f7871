import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

from tools import *

with ThreadPoolExecutor(32) as pool:
    print(sum(pool.map(noop, range(500))))
    futures = {pool.submit(get_object, 1000 + i): i for i in range(60)}
    failed = []
    for future in as_completed(futures):
        try:
            future.result()
        except ToolError as error:
            failed.append(str(error))
    print(sorted(failed))


def late():
    print("a thread that is waited for", noop("calls"))


threading.Timer(0.2, late).start()
print("last line of the script")
