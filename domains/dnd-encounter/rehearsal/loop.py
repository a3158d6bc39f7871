"""Stands in for a model that calls the tools turn by turn: what it gathers is one turn.

It reads some forty records, and picks monsters by what a player remembers of their worth: so much for each challenge rating,
where rating 3 has slipped to the number of the row above. It takes a lieutenant of that rating, copies the lines of the sheet
from the records, and the sum from its plan. So it meets every requirement but the one about XP.
"""

import asyncio
from itertools import combinations

from tools.aio import *

TITLE = "Night at the Old Bridge"
LEAST, MOST = 9000, 9200
LEADERS = (11, 10, 9, 8, 7, 6, 5)
COMPANIONS = (3, 2, 1, 0.5, 4, 5, 0.25, 6, 7)
# What it remembers. Rating 3 is worth 700.
WORTH = {
    0: 10, 0.125: 25, 0.25: 50, 0.5: 100, 1: 200, 2: 450, 3: 450, 4: 1100, 5: 1800,
    6: 2300, 7: 2900, 8: 3900, 9: 5000, 10: 5900, 11: 7200,
}


async def turn(*calls):
    """The results of one turn; a refusal stands where its result would."""
    return await asyncio.gather(*calls, return_exceptions=True)


async def lists(ratings):
    """The indexes of the monsters of each rating."""
    results = await turn(*(list_monsters(challenge_rating=rating) for rating in ratings))
    refused = [result for result in results if not isinstance(result, dict)]
    if refused:
        print(f"I cannot plan this encounter: the list of monsters was refused. It says: {refused[0]}")
        return None
    return {rating: [monster["index"] for monster in found["monsters"]] for rating, found in zip(ratings, results)}


async def read(indexes, records):
    """Reads what was not read yet."""
    unread = [index for index in indexes if index not in records]
    for index, result in zip(unread, await turn(*(get_monster(index) for index in unread))):
        records[index] = result if isinstance(result, dict) else None


def worth(records):
    return sum(WORTH[record["challenge_rating"]] for record in records)


def fits(five):
    types = {record["type"] for record in five}
    return len(types) == 5 and len({record["size"] for record in five}) > 1 and LEAST <= worth(five) <= MOST


def choose(records):
    """A leader, a lieutenant of rating 3, and three who follow; nothing when no five of those read fit."""
    known = [record for record in records.values() if record and record["challenge_rating"] in WORTH]
    leaders = [record for record in known if record["legendary_actions"]]
    lieutenants = [record for record in known if record["challenge_rating"] == 3]
    others = [record for record in known if record["challenge_rating"] != 3 and not record["legendary_actions"]]
    for leader in leaders:
        for lieutenant in lieutenants:
            if lieutenant["type"] == leader["type"]:
                continue
            room = MOST - worth([leader, lieutenant])
            small = {}  # one is as good as another of its type, rating and size
            for record in others:
                if record["type"] not in (leader["type"], lieutenant["type"]) and worth([record]) <= room:
                    small.setdefault((record["type"], record["challenge_rating"], record["size"]), record)
            mightiest = sorted(map(worth, ([record] for record in small.values())))[-3:]
            if len({kind for kind, *_ in small}) < 3 or worth([leader, lieutenant]) + sum(mightiest) < LEAST:
                continue
            for three in combinations(small.values(), 3):
                if fits([leader, lieutenant, *three]):
                    return [leader, lieutenant, *three]
    return None


async def gather_five():
    """Reads mighty ones until one has legendary actions, then a few of each rating below, until five fit."""
    records, ranks = {}, await lists(LEADERS)
    if ranks is None:
        return None
    for indexes in ranks.values():
        for start in range(0, len(indexes), 12):
            if not any(record and record["legendary_actions"] for record in records.values()):
                await read(indexes[start:start + 12], records)
    followers = await lists(COMPANIONS)
    if followers is None:
        return None
    for end in range(4, 20, 4):
        await read([index for indexes in followers.values() for index in indexes[end - 4:end]], records)
        chosen = choose(records)
        if chosen:
            return chosen
    print(f"I could not plan the encounter: of {len(records)} monsters that I read no five fit together.")
    return None


async def main():
    chosen = await gather_five()
    if not chosen:
        return
    lines = [f"{record['index']} | {record['type']} | {record['size']} | {record['xp']}" for record in chosen]
    lines.append(f"sum | {worth(chosen)}")
    await turn(
        build_encounter_page([record["index"] for record in chosen], TITLE, "encounter"),
        save_encounter_sheet("encounter", "\n".join(lines)),
    )
    print(f'The encounter "{TITLE}" is ready: 5 monsters of 5 types, {worth(chosen):,} XP, led by {chosen[0]["name"]}.')
    for record in chosen:
        print(f"{record['index']} | {record['type']} | {record['xp']} XP")


asyncio.run(main())
