# The second cell, after the first one's traceback.
import math

TYPES = ("normal fighting flying poison ground rock bug ghost steel fire water grass "
         "electric psychic ice dragon dark fairy").split()
STRONG = 450
read = refused = 0


async def read_types():
    """What each type takes from each attacking type, and the types of every Pokemon."""
    factor, types_of = {}, {}
    for name, record in zip(TYPES, await asyncio.gather(*(call(get_type, name=name) for name in TYPES))):
        for key, value in (("double_damage_from", 2), ("half_damage_from", 0.5), ("no_damage_from", 0)):
            for attacking in record["damage_relations"][key]:
                factor[attacking["name"], name] = value
        for entry in record["pokemon"]:
            types_of.setdefault(entry["pokemon"]["name"], []).append(name)
    return factor, types_of


def weaknesses(types, factor):
    return frozenset(a for a in TYPES if math.prod(factor.get((a, t), 1) for t in types) >= 2)


async def examine(name):
    """What counts of one Pokemon; None if it cannot be in the team."""
    global read, refused
    try:
        record = await call(get_pokemon, name=name)
        species = await call(get_species, name=record["species"]["name"])
    except Refused:
        refused += 1
        return None
    read += 1
    if species["is_legendary"] or species["is_mythical"] or not record["sprites"]["front_default"]:
        return None
    return {
        "name": name, "species": species["name"], "total": sum(s["base_stat"] for s in record["stats"]),
        "types": [t["type"]["name"] for t in record["types"]],
    }


def find(candidates, team=(), feared=frozenset()):
    """Six whose weaknesses do not overlap, at least four of them strong; None if there are none."""
    weak = sum(m["total"] < STRONG for m in team)
    if weak > 2:
        return None
    if len(team) == 6:
        return team
    for at, (weak_to, member) in enumerate(candidates):
        if not weak_to & feared and member["species"] not in [m["species"] for m in team]:
            found = find(candidates[at + 1:], (*team, member), feared | weak_to)
            if found:
                return found
    return None


def best(known, skip):
    """The strongest of each set of weaknesses, small sets first."""
    found = {}
    for weak_to, member in known:
        if member["name"] not in skip and member["total"] > found.get(weak_to, {"total": 0})["total"]:
            found[weak_to] = member
    return sorted(found.items(), key=lambda item: (len(item[0]), -item[1]["total"]))


async def search(waiting, known, skip):
    """Examines twelve at a time, of each set of weaknesses in turn, until a team is found."""
    while not (team := find(best(known, skip))) and waiting:
        names = []
        strong = {weak_to for weak_to, member in best(known, skip) if member["total"] >= STRONG}
        for weak_to in sorted(waiting, key=len):
            if weak_to not in strong and len(names) < 12:
                names.append((weak_to, waiting[weak_to].pop(0)))
                # Back to the end of its size, so that others of that size come first.
                rest = waiting.pop(weak_to)
                if rest:
                    waiting[weak_to] = rest
        if not names:
            break
        results = await asyncio.gather(*(examine(name) for _, name in names))
        known += [(weak_to, member) for (weak_to, _), member in zip(names, results) if member]
    return team


async def main():
    factor, types_of = await read_types()
    waiting = {}
    for name, types in types_of.items():
        weak_to = weaknesses(types, factor)
        if len(weak_to) <= 4:
            waiting.setdefault(weak_to, []).append(name)
    print(f"{len(types_of)} Pokemon, {len(waiting)} sets of at most four weaknesses")
    known, skip = [], set()
    while True:
        team = await search(waiting, known, skip)
        if not team:
            print(f"No team: {read} Pokemon read, {refused} refused.")
            return
        names = [m["name"] for m in team]
        results = await asyncio.gather(*(call(download_sprite, name=name) for name in names), return_exceptions=True)
        failed = {name for name, result in zip(names, results) if isinstance(result, Exception)}
        if not failed:
            break
        skip |= failed

    await call(build_team_card, name="team", title=TITLE, pokemon=names)
    feared = [a for m in team for a in weaknesses(m["types"], factor)]
    strong = sum(m["total"] >= STRONG for m in team)
    print(f"{read} read, {refused} refused; {len(feared)} weaknesses, {len(set(feared))} different; {strong} of {STRONG} or more")
    for m in team:
        print(m["name"], "|", ", ".join(m["types"]), "|", m["total"])


try:
    await main()
except Refused as error:
    print(f"No team: the API refused a request. {error}")
