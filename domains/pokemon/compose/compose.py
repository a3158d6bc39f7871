#!/usr/bin/env python3
"""Composes the cassette of the domain `pokemon` from the tables beside this file.

    pip install pillow
    python3 domains/pokemon/compose/compose.py [FOLDER]     (default: domains/pokemon/cassette)

Nothing here is fetched: the creatures are made up, the sprites drawn. The same tables give the same
records; sprites are the same for the same Pillow version.
"""

import sys
from pathlib import Path

# The form of a cassette is the same for all domains, and stands with the first one. Added last: the modules beside this file win.
sys.path.append(str(Path(__file__).parents[2] / "met" / "compose"))

from cassette import Cassette
from creatures import chart, creatures
from drawing import draw_sprite
from moves import API
from records import as_body, page, pokemon, species, sprite_address, type_record

LIMITS = (1, 5, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 151, 200, 250, 300, 400, 500, 1000, 1025, 1302, 1350, 1351, 1500, 2000)
# What a model may try that is not there.
UNKNOWN = ("nosuch", "missing", "0", "99999")


def compose(folder):
    """Fills a cassette and says what is in it."""
    cassette, types = Cassette(folder), {one.name: one for one in chart()}
    all_species, all_creatures = creatures()

    def serve(resource, record):
        for key in (record["name"], record["id"]):
            cassette.add(f"{API}/{resource}/{key}", as_body(record))

    for creature in all_creatures:
        serve("pokemon", pokemon(creature, types))
        if address := sprite_address(creature):
            cassette.add(address, draw_sprite(creature), content_type="image/png")
    for one in all_species:
        serve("pokemon-species", species(one, all_creatures))
    for one in types.values():
        serve("type", type_record(one, types, all_creatures))
    for limit in LIMITS:
        last = len(all_creatures) if limit >= 10 else 1  # so few are asked for to have a look, not to page
        for offset in range(0, last, limit):
            cassette.add(f"{API}/pokemon", as_body(page(all_creatures, offset, limit)), parameters={"offset": offset, "limit": limit})
    names = {creature.name for creature in all_creatures}
    missing = {"pokemon": [*UNKNOWN, *(one.name for one in all_species if one.name not in names)], "type": UNKNOWN}
    missing["pokemon-species"] = [*UNKNOWN, *(name for name in sorted(names) if name not in {one.name for one in all_species})]
    for resource, unknown in missing.items():
        for name in unknown:
            cassette.add(f"{API}/{resource}/{name}", b"Not Found", 404, "text/plain; charset=utf-8")
    cassette.write()
    size = sum(map(len, cassette.bodies.values()))
    print(f"{len(all_creatures)} Pokemon, {len(all_species)} species, {len(cassette.entries)} answers, {len(cassette.bodies)} bodies, {size / 1e6:.1f} MB in {folder}")


if __name__ == "__main__":
    compose(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "cassette")
