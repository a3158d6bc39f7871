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


TITLE = "Night at the Old Bridge"
TYPES = [
    "aberration", "beast", "celestial", "construct", "dragon", "elemental", "fey",
    "fiend", "giant", "humanoid", "monstrosity", "ooze", "plant", "undead",
]


async def fetch(index):
    try:
        return await call(get_monster, index=index)
    except Refused:
        return None


async def main():
    listed = await call(list_monsters)
    records = await asyncio.gather(*(fetch(m["index"]) for m in listed["monsters"]))
    monsters = [r for r in records if r and r["xp"] <= 9200]
    print(f"{listed['count']} listed, {len(monsters)} could take part")

    # One list a type, the mightiest first.
    by_type = {t: [] for t in TYPES}
    for r in sorted(monsters, key=lambda r: -r["xp"]):
        by_type[r["type"]].append(r)

    leader = next(r for r in sorted(monsters, key=lambda r: r["xp"]) if r["legendary_actions"])
    chosen, left = [leader], 9200 - leader["xp"]
    for t, candidates in by_type.items():
        if t != leader["type"] and len(chosen) < 5:
            fitting = next((r for r in candidates if r["xp"] <= left), None)
            if fitting:
                chosen.append(fitting)
                left -= fitting["xp"]
    total = sum(r["xp"] for r in chosen)
    if len(chosen) < 5 or not 9000 <= total <= 9200:
        raise SystemExit(f"{len(chosen)} monsters, {total} XP")

    lines = [f"{r['index']} | {r['type']} | {r['size']} | {r['xp']}" for r in chosen]
    await call(build_encounter_page, indexes=[r["index"] for r in chosen], title=TITLE, name="encounter")
    await call(save_encounter_sheet, name="encounter", text="\n".join(lines + [f"sum | {total}"]))
    for r in chosen:
        print(r["index"], "|", r["type"], "|", r["xp"])


await main()
