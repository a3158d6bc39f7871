"""Stands in for a model that calls the tools turn by turn: what it gathers is one turn.

It reads a dozen records or so and goes by what it knows of teams: six different types, the strongest of
each. It looks at their types one by one, never multiplies two of them, and never holds all six against
each other, so it meets every requirement but the one about attacking types.
"""

import asyncio

from tools.aio import *

TITLE = "Six that stand together"
MEMBERS = 6
STRONG, STRONG_MEMBERS = 450, 4
BATCH = 6


async def turn(*calls):
    """The results of one turn; a refusal stands where its result would."""
    return await asyncio.gather(*calls, return_exceptions=True)


def total(record):
    return sum(stat["base_stat"] for stat in record["stats"])


def types(record):
    return [slot["type"]["name"] for slot in record["types"]]


async def read(names, known):
    """Reads some records, then their species; keeps what may be in the team."""
    records = [record for record in await turn(*(get_pokemon(name) for name in names)) if isinstance(record, dict)]
    records = [record for record in records if record["sprites"]["front_default"]]
    for record, species in zip(records, await turn(*(get_species(record["species"]["name"]) for record in records))):
        if isinstance(species, dict) and not species["is_legendary"] and not species["is_mythical"]:
            known.append(record)


def choose(known):
    """The strongest of each first type, the six strongest of these."""
    best = {}
    for record in sorted(known, key=total, reverse=True):
        if record["species"]["name"] not in [other["species"]["name"] for other in best.values()]:
            best.setdefault(types(record)[0], record)
    return list(best.values())[:MEMBERS]


def enough(team):
    return len(team) == MEMBERS and sum(total(record) >= STRONG for record in team) >= STRONG_MEMBERS


async def find_team():
    """Reads on from two thirds down the list, past the famous first and their long records, until there is enough."""
    listed, = await turn(list_pokemon(limit=2000))
    if isinstance(listed, ToolError):
        print(f"I cannot put a team together: the list was refused. It says: {listed}")
        return None
    names, known, start = listed["names"], [], len(listed["names"]) * 2 // 3
    names = names[start:] + names[:start]
    while names and not enough(choose(known)):
        await read(names[:BATCH], known)
        names = names[BATCH:]
    return known


async def show(team, known):
    """Downloads, replaces what has no picture after all, builds page and sheet."""
    missing, spare = team, [record for record in known if record not in team]
    while missing:
        results = await turn(*(download_sprite(record["name"]) for record in missing))
        failed = [record for record, result in zip(missing, results) if not isinstance(result, dict)]
        missing = [spare.pop(0) for _ in failed if spare]
        team = [record for record in team if record not in failed] + missing
    await turn(build_team_card("team", TITLE, [record["name"] for record in team]))
    return team


async def main():
    known = await find_team()
    if known is None:
        return
    team = choose(known)
    if not enough(team):
        print(f"I could not put a team together: {len(known)} Pokemon are suitable, and {len(team)} types among them.")
        return
    await turn(*(get_type(types(record)[0]) for record in team))
    team = await show(team, known)
    print(f'The team "{TITLE}" is ready: {len(team)} Pokemon of different types, so that no attacking type hits two of them hard.')
    for record in team:
        print(f'{record["name"]} | {", ".join(types(record))} | {total(record)}')


asyncio.run(main())
