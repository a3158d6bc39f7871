# end: Exit(1)
import sys

sys.modules.clear()
sys.modules = None
del sys.path, sys.meta_path
import json
