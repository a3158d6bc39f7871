import asyncio
from tools.aio import *

TITLE = "Six that stand together"


async def fetch(name):
    try:
        return await get_pokemon(name)
    except ToolError:
        return None


async def main():
    listed = await list_pokemon(limit=25)
    records = [r for r in await asyncio.gather(*(fetch(name) for name in listed["names"])) if r]
    print(f"{listed['total']} listed, {len(records)} read")

    # Which attacking types does each of them fear?
    relations = {}
    weak_to = {}
    for r in records:
        first, second = [t["type"]["name"] for t in r["types"]]
        for name in (first, second):
            if name not in relations:
                relations[name] = (await get_type(name))["damage_relations"]
        double = {t["name"] for name in (first, second) for t in relations[name]["double_damage_from"]}
        half = {t["name"] for name in (first, second) for t in relations[name]["half_damage_from"]}
        weak_to[r["name"]] = double - half

    team, feared = [], set()
    for r in records:
        if len(team) < 6 and not weak_to[r["name"]] & feared:
            team.append(r["name"])
            feared |= weak_to[r["name"]]
    await asyncio.gather(*(download_sprite(name) for name in team))
    print(await build_team_card("team", TITLE, team))


asyncio.run(main())
