# A cell for the provider's sandbox: the tools are coroutine functions that take one dict and return a text. Later cells
# find the names of this one.
import asyncio
import json


class Refused(Exception):
    """A tool refused; its text says why."""


async def call(tool, **arguments):
    """What a tool returns, as data."""
    text = await tool(arguments)
    if text.startswith("ERROR"):
        raise Refused(text)
    return json.loads(text)


TITLE = "Cats in the Met"


async def fetch(object_id):
    try:
        return await call(get_object, object_id=object_id)
    except Refused:
        return None


async def main():
    departments = await call(list_departments)
    found = await call(search_collection, query="cat", limit=100)
    records = await asyncio.gather(*(fetch(object_id) for object_id in found["object_ids"][:60]))
    usable = [r for r in records if r and r["isPublicDomain"] and r["primaryImageSmall"]]
    print(f"{found['total']} found, {len(records)} read, {len(usable)} usable")

    # Sort the pieces by department, then take them in turn so that the exhibit is varied.
    by_department = {d["name"]: [] for d in departments}
    for r in usable:
        by_department[r["department"]].append(r)

    chosen, kinds = [], set()
    for pieces in by_department.values():
        for r in pieces:
            if r["objectName"] not in kinds and len(chosen) < 12:
                chosen.append(r)
                kinds.add(r["objectName"])
    if len(chosen) < 12:
        raise SystemExit(f"only {len(chosen)} pieces")

    ids = [r["objectID"] for r in chosen]
    await asyncio.gather(*(call(download_image, object_id=object_id) for object_id in ids))
    await call(make_contact_sheet, name="contact_sheet", object_ids=ids)
    await call(build_gallery, name="exhibit", title=TITLE, object_ids=ids)
    for r in chosen:
        print(r["objectID"], "|", r["title"], "|", r["department"])


await main()
