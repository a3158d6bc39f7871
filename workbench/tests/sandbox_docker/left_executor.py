from concurrent.futures import ThreadPoolExecutor
from tools import noop

pool = ThreadPoolExecutor(4)
print(pool.submit(noop, 7).result())
