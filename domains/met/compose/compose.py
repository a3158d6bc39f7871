#!/usr/bin/env python3
"""Composes the cassette of the domain `met` from the tables beside this file.

    pip install pillow
    python3 domains/met/compose/compose.py [FOLDER]     (default: domains/met/cassette)

Nothing here is fetched: the objects are made up, the pictures drawn. The same tables give the same
records; pictures are the same for the same Pillow version.
"""

import sys
from pathlib import Path

from cassette import Cassette
from catalogue import DEPARTMENTS, pieces
from drawing import draw_object
from records import as_body, record
from searches import answers

API = "https://collectionapi.metmuseum.org/public/collection"
RETIRED = "Search v1 has been retired. Ask /public/collection/v1.1/search instead: the same answer, one page at a time (offset, limit)."


def refusal(message):
    return as_body({"message": message})


def compose(folder):
    """Fills a cassette and says what is in it."""
    catalogue, cassette = pieces(), Cassette(folder)
    departments = [{"departmentId": number, "displayName": name} for number, name, *_ in DEPARTMENTS]
    cassette.add(f"{API}/v1/departments", as_body({"departments": departments}))
    for parameters, answer in answers(catalogue):
        cassette.add(f"{API}/v1.1/search", as_body(answer), parameters=parameters)
    cassette.add(f"{API}/v1/search", refusal(RETIRED), 410, parameters={"q": "cat"})
    for unknown in (0, 99999999):
        cassette.add(f"{API}/v1/objects/{unknown}", refusal("ObjectID not found"), 404)
    for piece in catalogue:
        address = f"{API}/v1/objects/{piece.object_id}"
        if piece.lost:
            cassette.add(address, refusal("Not a valid object"), 404)
            continue
        told = record(piece)
        cassette.add(address, as_body(told))
        if piece.pictured:
            cassette.add(told["primaryImageSmall"], draw_object(piece.object_id, piece.form, piece.medium), content_type="image/jpeg")
    cassette.write()
    size = sum(map(len, cassette.bodies.values()))
    print(f"{len(catalogue)} objects, {len(cassette.entries)} answers, {len(cassette.bodies)} bodies, {size / 1e6:.1f} MB in {folder}")


if __name__ == "__main__":
    compose(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "cassette")
