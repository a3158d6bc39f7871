from tools import *

found = search_collection(limit=5)
print(len([get_object(object_id)["title"] for object_id in found["object_ids"]]), noop(x="done"))
