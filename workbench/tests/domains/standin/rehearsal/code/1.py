from tools import *

print(get_object(1000)["titel"])
