# The second cell, after the first one's traceback.
QUERIES = ["cat", "kitten", "tiger", "lion", "leopard", "feline", "dog", "animal"]
records = {}


async def fetch(object_id):
    try:
        return await call(get_object, object_id=object_id)
    except Refused:  # listed, but not served
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
            found = await call(search_collection, query=query, offset=offset, limit=100)
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
        results = await asyncio.gather(*(call(download_image, object_id=i) for i in ids), return_exceptions=True)
        failed = {i for i, result in zip(ids, results) if isinstance(result, Exception)}
        if not failed:
            break
        skip |= failed

    await call(make_contact_sheet, name="contact_sheet", object_ids=ids)
    await call(build_gallery, name="exhibit", title=TITLE, object_ids=ids)
    departments = {r["department"] for r in chosen}
    kinds = {r["objectName"] for r in chosen}
    print(f"{len(records)} records read; {len(ids)} pieces, {len(kinds)} kinds, {len(departments)} departments")
    for r in chosen:
        print(r["objectID"], "|", r["title"], "|", r["department"])


try:
    await main()
except Refused as error:
    print(f"No exhibit: the museum's API refused a request. {error}")
