# A small family of exceptions, raised from a tool's refusal and told apart again.
import contextlib
import re
import traceback
from tools import *


class CatalogueError(Exception):
    def __init__(self, object_id, status):
        super().__init__(f"object {object_id}: {self.reason} ({status})")
        self.object_id, self.status = object_id, status


class NotThere(CatalogueError):
    reason = "not in the catalogue"


class Withheld(CatalogueError):
    reason = "withheld"


@contextlib.contextmanager
def told_apart(object_id):
    try:
        yield
    except ToolError as refusal:
        status = int(re.search(r"\b4\d\d\b", str(refusal))[0])
        error = {404: NotThere, 403: Withheld}[status](object_id, status)
        error.add_note(f"the tool said: {refusal}")
        raise error from refusal
    finally:
        print(f"[{object_id}]", end=" ")


for object_id in (1001, 1036, 1005, 1110):
    try:
        with told_apart(object_id):
            get_object(object_id)
            download_image(object_id)
    except NotThere as error:
        print(error.status, error, error.__notes__)
    except CatalogueError as error:
        print(type(error).__mro__[1].__name__, error.args, repr(error.__cause__))
    else:
        print("fine")

with contextlib.suppress(CatalogueError), told_apart(1010):
    download_image(1010)
print()
try:
    with told_apart(1000):
        raise KeyError("title")
except KeyError:
    print(traceback.format_exc().splitlines()[-1])
