from concurrent.futures import ThreadPoolExecutor, as_completed

from tools import *

with ThreadPoolExecutor(max_workers=8) as pool:
    print(list(pool.map(lambda i: get_object(i)["title"], range(1001, 1004))))
    futures = {pool.submit(get_object, i): i for i in (1001, 37 * 30)}
    # Threads end in any order.
    for future in sorted(as_completed(futures), key=futures.get):
        try:
            print(futures[future], future.result()["title"])
        except ToolError as error:
            print(futures[future], error)
