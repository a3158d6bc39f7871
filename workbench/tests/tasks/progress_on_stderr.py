# Progress on standard error, the answer on standard output: they must not mix.
import logging
import sys
from tools import *

logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("curator")
total = 0
for done, object_id in enumerate(range(1004, 1007), start=1):
    try:
        total += download_image(object_id)["bytes"]
        print(f"{done} done", file=sys.stderr)
    except ToolError as error:
        log.warning("%s", error)
    log.debug("never shown")
log.info("total %d", total)
print(f"{total:,} bytes")
