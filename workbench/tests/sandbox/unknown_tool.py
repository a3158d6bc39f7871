# end: Exit(1)
import tools

try:
    from tools import get_objects
except ImportError as error:
    print(error)
tools.get_objct(3)
