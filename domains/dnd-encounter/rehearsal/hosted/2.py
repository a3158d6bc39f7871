# The second cell, after the first one's traceback.
LEAST, MOST, COUNT = 9000, 9200, 5


async def fetch(index):
    try:
        return await call(get_monster, index=index)
    except Refused:  # listed, but not served
        return None


def search(types, chosen, total):
    """Adds monsters of further types, each no mightier than the room that is left, until the requirements are met."""
    if len(chosen) == COUNT:
        sizes = {r["size"] for r in chosen}
        return chosen if LEAST <= total <= MOST and len(sizes) >= 2 else None
    missing = COUNT - len(chosen)
    for i in range(len(types) - missing + 1):
        # What further types could add at most; the lists and the list of lists begin with the mightiest.
        rest = sum(options[0]["xp"] for options in types[i + 1:i + missing])
        if total + types[i][0]["xp"] + rest < LEAST:
            return None
        for r in types[i]:
            if total + r["xp"] + rest < LEAST:
                break
            if total + r["xp"] <= MOST:
                found = search(types[i + 1:], chosen + [r], total + r["xp"])
                if found:
                    return found
    return None


async def main():
    listed = await call(list_monsters)
    records = await asyncio.gather(*(fetch(m["index"]) for m in listed["monsters"]))
    monsters = [r for r in records if r and r["xp"] <= MOST]
    leaders = sorted((r for r in monsters if r["legendary_actions"]), key=lambda r: r["xp"])
    print(f"{listed['count']} listed, {len(monsters)} could take part, {len(leaders)} of them with legendary actions")

    chosen = None
    for leader in leaders:
        # Of each type that the leader is not of: one monster for each size and XP, the mightiest first.
        by_type = {}
        for r in monsters:
            if r["type"] != leader["type"] and r["xp"] <= MOST - leader["xp"]:
                by_type.setdefault(r["type"], {}).setdefault((r["xp"], r["size"]), r)
        types = [sorted(kinds.values(), key=lambda r: -r["xp"]) for kinds in by_type.values()]
        types.sort(key=lambda options: -options[0]["xp"])
        chosen = search(types, [leader], leader["xp"])
        if chosen:
            break
    if not chosen:
        print(f"No encounter: no five of {len(monsters)} monsters meet the requirements.")
        return

    total = sum(r["xp"] for r in chosen)
    lines = [f"{r['index']} | {r['type']} | {r['size']} | {r['xp']}" for r in chosen]
    await call(build_encounter_page, indexes=[r["index"] for r in chosen], title=TITLE, name="encounter")
    await call(save_encounter_sheet, name="encounter", text="\n".join(lines + [f"sum | {total}"]))
    print(f"{len(chosen)} monsters, {total} XP")
    for r in chosen:
        print(r["index"], "|", r["type"], "|", r["xp"])


try:
    await main()
except Refused as error:
    print(f"No encounter: the API refused a request. {error}")
