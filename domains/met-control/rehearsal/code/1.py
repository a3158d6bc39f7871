from tools import *

saved = download_image(9000052)
print(f"{saved['object_id']} | {saved['file']}")
