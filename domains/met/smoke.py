"""The whole task as one plain script, and one mistake on purpose: no model is asked."""

from tools import *


def section(title):
    print(f"\n-- {title}")


section("an object that does not exist")
try:
    print(get_object(99999999))
except ToolError as error:
    print(f"ToolError: {error}")

section("search")
ids, offset = [], 0
while offset is not None and len(ids) < 300:
    page = search_collection("cat", offset=offset, limit=100)
    ids += page["object_ids"]
    offset = page["next_offset"]
print(f"{page['total']} objects match, {len(ids)} ids read in pages of 100")

section("records")
records, refused, characters = [], 0, 0
for object_id in ids[:60]:
    try:
        record = get_object(object_id)
    except ToolError:
        refused += 1
        continue
    characters += len(str(record))
    records.append(record)
print(f"{len(records)} records read, {refused} listed but not served")
print(f"about {round(characters / 3.5, -2):,.0f} tokens, had a model read them")
usable = [record for record in records if record["isPublicDomain"] and record["primaryImageSmall"]]
print(f"{len(usable)} of them are public domain and have an image")

section("exhibit")
chosen = []
for record in usable:
    if len(chosen) < 12 and record["objectName"] not in [piece["objectName"] for piece in chosen]:
        chosen.append(record)
chosen_ids = [record["objectID"] for record in chosen]
size = sum(download_image(object_id)["bytes"] for object_id in chosen_ids)
print(f"{len(chosen)} images, {size:,} bytes")
print(make_contact_sheet("contact_sheet", chosen_ids)["file"])
print(build_gallery("exhibit", "Cats in the Met", chosen_ids)["file"])
