import tools
from standin_tools import *

try:
    get_object(37 * 30)
except ToolError as error:
    print(error, repr(error), isinstance(error, tools.ToolError))
print(tools.get_object is get_object, tools.get_object.__doc__)
