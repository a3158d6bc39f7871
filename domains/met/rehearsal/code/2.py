import asyncio
from tools.aio import *

TITLE = "Cats in the Met"
QUERIES = ["cat", "kitten", "tiger", "lion", "leopard", "feline", "dog", "animal"]
records = {}


async def fetch(object_id):
    try:
        return await get_object(object_id)
    except ToolError:  # listed, but not served
        return None


def choose(skip):
    """Up to 12 pieces, no two with the same objectName, taken from each department in turn."""
    by_department = {}
    for r in records.values():
        if r and r["isPublicDomain"] and r["primaryImageSmall"] and r["objectName"] and r["objectID"] not in skip:
            by_department.setdefault(r["department"], []).append(r)
    chosen, kinds = [], set()
    while len(chosen) < 12 and any(by_department.values()):
        for pieces in by_department.values():
            while pieces and len(chosen) < 12:
                r = pieces.pop(0)
                kind = r["objectName"].strip().lower()
                if kind not in kinds:
                    kinds.add(kind)
                    chosen.append(r)
                    break
    return chosen


def complete(chosen):
    return len(chosen) == 12 and len({r["department"] for r in chosen}) >= 4


async def search_until_complete(skip):
    """Pages through one query after the other, 60 records at a time, until the requirements can be met."""
    for query in QUERIES:
        offset = 0
        while offset is not None and offset < 300 and not complete(choose(skip)):
            found = await search_collection(query, offset=offset, limit=100)
            new = [i for i in found["object_ids"] if i not in records]
            for start in range(0, len(new), 60):
                if not complete(choose(skip)):
                    batch = new[start:start + 60]
                    records.update(zip(batch, await asyncio.gather(*(fetch(i) for i in batch))))
            offset = found["next_offset"]
    return choose(skip)


async def main():
    skip = set()
    while True:
        chosen = await search_until_complete(skip)
        if not complete(chosen):
            print(f"No exhibit: {len(records)} records read, {len(chosen)} suitable pieces of different kinds found.")
            return
        ids = [r["objectID"] for r in chosen]
        results = await asyncio.gather(*(download_image(i) for i in ids), return_exceptions=True)
        failed = {i for i, result in zip(ids, results) if isinstance(result, Exception)}
        if not failed:
            break
        skip |= failed

    await make_contact_sheet("contact_sheet", ids)
    await build_gallery("exhibit", TITLE, ids)
    departments = {r["department"] for r in chosen}
    kinds = {r["objectName"] for r in chosen}
    print(f"{len(records)} records read; {len(ids)} pieces, {len(kinds)} kinds, {len(departments)} departments")
    for r in chosen:
        print(r["objectID"], "|", r["title"], "|", r["department"])


try:
    asyncio.run(main())
except ToolError as error:
    print(f"No exhibit: the museum's API refused a request. {error}")
