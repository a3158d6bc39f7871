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


TITLE = "Six that stand together"


async def fetch(name):
    try:
        return await call(get_pokemon, name=name)
    except Refused:
        return None


async def main():
    listed = await call(list_pokemon, limit=25)
    records = [r for r in await asyncio.gather(*(fetch(name) for name in listed["names"])) if r]
    print(f"{listed['total']} listed, {len(records)} read")

    # Which attacking types does each of them fear?
    relations = {}
    weak_to = {}
    for r in records:
        first, second = [t["type"]["name"] for t in r["types"]]
        for name in (first, second):
            if name not in relations:
                relations[name] = (await call(get_type, name=name))["damage_relations"]
        double = {t["name"] for name in (first, second) for t in relations[name]["double_damage_from"]}
        half = {t["name"] for name in (first, second) for t in relations[name]["half_damage_from"]}
        weak_to[r["name"]] = double - half

    team, feared = [], set()
    for r in records:
        if len(team) < 6 and not weak_to[r["name"]] & feared:
            team.append(r["name"])
            feared |= weak_to[r["name"]]
    await asyncio.gather(*(call(download_sprite, name=name) for name in team))
    print(await call(build_team_card, name="team", title=TITLE, pokemon=team))


await main()
