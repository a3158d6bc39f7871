#!/usr/bin/env python3
"""Composes the cassette of the domain `dnd-encounter` from the tables beside this file.

    python3 domains/dnd-encounter/compose/compose.py [FOLDER]     (default: domains/dnd-encounter/cassette)

Nothing here is fetched: the monsters are made up. The same tables give the same bytes.
"""

import statistics
import sys
from html import escape
from pathlib import Path

# The form of a cassette is the same for all domains, and stands with the first one. Added last: the modules beside this file win.
sys.path.append(str(Path(__file__).parents[2] / "met" / "compose"))

from bestiary import EXPERIENCE, monsters
from cassette import Cassette
from records import API, as_body, record, reference

HOST = "https://www.dnd5eapi.co"
# Parts of names that are asked for; some find nothing, which is an answer too.
NAMES = ["dragon", "drake", "matriarch", "hatchling", "swarm", "giant", "knight", "widow", "queen", "lich", "runner", "weaselskin", "of the"]


def listed(found):
    """The answer to a search."""
    return as_body({"count": len(found), "results": [reference("monsters", monster.index, monster.name) for monster in found]})


def unknown(path):
    """The page of the framework that the API is served with."""
    text = f"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>Cannot GET {escape(path)}</pre>\n</body>\n</html>\n"
    return text.encode()


def compose(folder):
    """Fills a cassette and says what is in it."""
    everyone, cassette = monsters(), Cassette(folder)
    everywhere = f"{HOST}{API}/monsters"
    cassette.add(everywhere, listed(everyone))
    for rating in EXPERIENCE:
        found = [monster for monster in everyone if monster.rating == rating]
        cassette.add(everywhere, listed(found), parameters={"challenge_rating": rating})
    for name in NAMES:
        found = [monster for monster in everyone if name in monster.name.lower()]
        cassette.add(everywhere, listed(found), parameters={"name": name})
    sizes = []
    for monster in everyone:
        body = as_body(record(monster, everyone))
        sizes.append(len(body))
        cassette.add(f"{everywhere}/{monster.index}", body)
    cassette.add(f"{everywhere}/no-such-monster", unknown(f"{API}/monsters/no-such-monster"), 404, content_type="text/html")
    cassette.write()
    total = sum(map(len, cassette.bodies.values()))
    print(f"{len(everyone)} monsters of {min(sizes)} to {max(sizes)} bytes, median {statistics.median(sizes):.0f};", end=" ")
    print(f"{len(cassette.entries)} answers, {len(cassette.bodies)} bodies, {total / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    compose(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "cassette")
