"""The whole task as one plain script, and one mistake on purpose: no model is asked."""

from tools import *

LEAST, MOST = 9000, 9200


def section(title):
    print(f"\n-- {title}")


section("a monster that does not exist")
try:
    print(get_monster("no-such-monster"))
except ToolError as error:
    print(f"ToolError: {error}")

section("lists")
listed = list_monsters()
print(f"{listed['count']} monsters")
ratings = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
indexes = [monster["index"] for rating in ratings for monster in list_monsters(challenge_rating=rating)["monsters"][:8]]
print(f"{list_monsters(name='swarm')['count']} are swarms; {len(indexes)} of {len(ratings)} challenge ratings are read")

section("records")
records, refused, characters = [], 0, 0
for index in indexes:
    try:
        record = get_monster(index)
    except ToolError:
        refused += 1
        continue
    characters += len(str(record))
    records.append(record)
print(f"{len(records)} records read, {refused} listed but not served")
print(f"about {round(characters / 3.5, -2):,.0f} tokens, had a model read them")


def add(chosen):
    """Adds monsters of further types until there are five within the bounds."""
    total = sum(record["xp"] for record in chosen)
    if len(chosen) == 5:
        return chosen if total >= LEAST and len({record["size"] for record in chosen}) > 1 else None
    for record in followers:
        if total + record["xp"] * (5 - len(chosen)) < LEAST:
            return None
        fits = total + record["xp"] <= MOST and record["xp"] <= chosen[-1]["xp"]
        if fits and record["type"] not in [other["type"] for other in chosen]:
            found = add(chosen + [record])
            if found:
                return found
    return None


section("encounter")
records.sort(key=lambda record: -record["xp"])
followers = [record for record in records if not record["legendary_actions"]]
leaders = [record for record in records if record["legendary_actions"] and record["xp"] <= MOST]
chosen = next((found for found in map(lambda leader: add([leader]), leaders) if found), [])
total = sum(record["xp"] for record in chosen)
print(f"{len(chosen)} monsters, {total} XP")
lines = [f"{record['index']} | {record['type']} | {record['size']} | {record['xp']}" for record in chosen]
print(build_encounter_page([record["index"] for record in chosen], "Night at the Old Bridge", "encounter")["file"])
print(save_encounter_sheet("encounter", "\n".join([*lines, f"sum | {total}"]))["file"])
