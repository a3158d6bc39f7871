import asyncio
from tools.aio import *

TITLE = "Cats in the Met"


async def fetch(object_id):
    try:
        return await get_object(object_id)
    except ToolError:
        return None


async def main():
    departments = await list_departments()
    found = await search_collection("cat", limit=100)
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
    await asyncio.gather(*(download_image(object_id) for object_id in ids))
    await make_contact_sheet("contact_sheet", ids)
    await build_gallery("exhibit", TITLE, ids)
    for r in chosen:
        print(r["objectID"], "|", r["title"], "|", r["department"])


asyncio.run(main())
