"""The whole task as one plain script, and two mistakes on purpose: no model is asked."""

from tools import *


def section(title):
    print(f"\n-- {title}")


section("a Pokemon that does not exist, and a page that holds nothing")
try:
    print(get_pokemon("nosuch"))
except ToolError as error:
    print(f"ToolError: {error}")
try:
    print(list_pokemon(limit=0))
except ToolError as error:
    print(f"ToolError: {error}")

section("list")
listed = list_pokemon(limit=20)
pages, offset = 1, listed["next_offset"]
while offset is not None and pages < 3:
    offset = list_pokemon(offset=offset, limit=20)["next_offset"]
    pages += 1
print(f"{listed['total']} Pokemon, {pages} pages of 20 read")

section("types")
chart = {}
members = []
for name in ("normal", "electric", "water", "ghost", "fairy", "grass", "ice", "steel"):
    record = get_type(name)
    chart[name] = {attacking["name"] for attacking in record["damage_relations"]["double_damage_from"]}
    members.append((name, [entry["pokemon"]["name"] for entry in record["pokemon"]]))
    print(f"{name}: {len(members[-1][1])} Pokemon, double damage from {', '.join(sorted(chart[name]))}")

section("records")
characters, chosen, refused = 0, {}, 0
for kind, names in members:
    for name in names[:4]:
        try:
            record = get_pokemon(name)
            species = get_species(record["species"]["name"])
        except ToolError:
            refused += 1
            continue
        characters += len(str(record))
        if len(record["types"]) == 1 and record["sprites"]["front_default"] and not species["is_legendary"]:
            chosen[kind] = record["name"]
print(f"about {round(characters / 3.5, -2):,.0f} tokens, had a model read them; {refused} not served")

section("team")
team = list(chosen.values())[:6]
size = sum(download_sprite(name)["bytes"] for name in team)
print(f"{len(team)} sprites, {size:,} bytes")
print(build_team_card("team", "Six that stand together", team))
