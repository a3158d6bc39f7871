"""Stands in for a model that calls the tool itself: one turn for the call, one for the last words."""

from tools import *

saved = download_image(9000052)
print(f"{saved['object_id']} | {saved['file']}")
