# probe: tools import and answer
# expected: a real call
import tools
from tools import echo

print(echo("a real call"))
