"""Stands in for a model that calls the tools turn by turn: what it gathers is one turn.

It works as the lesson's runs did: it reads some three dozen records, then goes by what it remembers of
them. Two things made of different stuff look like two kinds to it, whatever `objectName` says, so it
meets every requirement but the one about kinds.
"""

import asyncio

from tools.aio import *

TITLE = "Cats in the Met"
PIECES = 12
DEPARTMENTS = 4


async def turn(*calls):
    """The results of one turn; a refusal stands where its result would."""
    return await asyncio.gather(*calls, return_exceptions=True)


def listed(results):
    """The ids of several searches, the best of each first, none twice."""
    pages = [result["object_ids"] for result in results if isinstance(result, dict)]
    longest = max(map(len, pages), default=0)
    return list(dict.fromkeys(page[rank] for rank in range(longest) for page in pages if rank < len(page)))


async def read(ids, records, count):
    """Reads the next `count` records that were not read yet."""
    unread = [object_id for object_id in ids if object_id not in records][:count]
    for object_id, result in zip(unread, await turn(*(get_object(object_id) for object_id in unread))):
        records[object_id] = result if isinstance(result, dict) else None


def choose(records):
    """Twelve pieces in the order read, of twelve materials, at first no more than two a department."""
    usable = [record for record in records.values() if record and record["isPublicDomain"] and record["primaryImageSmall"]]
    for limit in (2, 3, PIECES):
        chosen, materials, departments = [], set(), []
        for record in usable:
            if record["medium"] in materials or departments.count(record["department"]) >= limit:
                continue
            chosen.append(record)
            materials.add(record["medium"])
            departments.append(record["department"])
            if len(chosen) == PIECES:
                return chosen
    return chosen


def spread(chosen):
    return len({record["department"] for record in chosen})


def enough(chosen):
    return len(chosen) == PIECES and spread(chosen) >= DEPARTMENTS


async def gather_records():
    """Searches and reads until there is enough to choose from, or nothing left to ask."""
    _, found = await turn(list_departments(), search_collection("cat"))
    if isinstance(found, ToolError):
        print(f"I cannot curate this exhibit: the museum's search refused the request. It says: {found}")
        return None
    records, ids = {}, listed([found])
    if ids:
        await read(ids, records, 14)
    # Other words may find other things.
    ids = listed([found, *await turn(*(search_collection(query, limit=50) for query in ("kitten", "tiger", "lion")))])
    for count in (12, 10):
        if ids:
            await read(ids, records, count)
    for query in ("feline", "cats", "leopard", "animal", "dog"):
        if not enough(choose(records)):
            ids += listed(await turn(search_collection(query)))
            while any(object_id not in records for object_id in ids) and not enough(choose(records)):
                await read(ids, records, 12)
    return records


async def show(chosen, spare):
    """Downloads, replaces what has no picture after all, draws the sheet, builds the page."""
    missing = chosen
    while missing:
        results = await turn(*(download_image(record["objectID"]) for record in missing))
        failed = [record for record, result in zip(missing, results) if not isinstance(result, dict)]
        missing = [spare.pop(0) for _ in failed if spare]
        chosen = [record for record in chosen if record not in failed] + missing
    ids = [record["objectID"] for record in chosen]
    await turn(make_contact_sheet("contact_sheet", ids))
    await turn(build_gallery("exhibit", TITLE, ids))
    return chosen


async def main():
    records = await gather_records()
    if records is None:
        return
    chosen = choose(records)
    if not enough(chosen):
        print(f"I could not curate the exhibit: my searches led to {len(chosen)} suitable pieces from {spread(chosen)} departments.")
        return
    await turn(*(get_object(record["objectID"]) for record in chosen[-2:]))  # a second look at the last two
    spare = [record for record in records.values() if record and record["primaryImageSmall"] and record not in chosen]
    chosen = await show(chosen, spare)
    print(f'The exhibit "{TITLE}" is ready: {len(chosen)} pieces, all of different kinds, from {spread(chosen)} departments.')
    for record in chosen:
        print(f'{record["objectID"]} | {record["title"]} | {record["department"]}')


asyncio.run(main())
