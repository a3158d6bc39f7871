"""A test of the tools without a model: `workbench smoke @REFERENCE@`. A line that is not true ends it with a traceback."""

from tools import *

trail = get_trail(1)
assert trail["number"] == 1, trail
assert trail["length_km"] > 0, trail

# What the API refuses must reach the model in the API's own words: it can then do something else.
try:
    get_trail(25)
except ToolError as error:
    assert "there is no trail 25" in str(error), error
else:
    raise AssertionError("trail 25 does not exist")

page = build_page("smoke", [1, 2, 3])
print(f"{trail['name']}: {trail['length_km']} km; {page['file']} has {page['bytes']} bytes")
