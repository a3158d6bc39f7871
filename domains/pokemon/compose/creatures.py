"""Reads the two tables beside this file into plain objects."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# Far above every number of the real API; there, too, forms are numbered apart.
FIRST_NUMBER, FIRST_FORM = 900001, 910001
FLAGS = {"baby", "legendary", "mythical", "null", "thin", "no sprite"}


@dataclass(frozen=True)
class Species:
    """One line of `creatures.txt`, above its forms."""

    number: int
    name: str
    genus: str
    flags: frozenset
    evolves_from: str
    first_of_line: int


@dataclass(frozen=True)
class Creature:
    """A Pokemon: the default one of its species, or another form."""

    number: int
    name: str
    species: Species
    types: tuple
    total: int
    flags: frozenset

    @property
    def is_default(self):
        return self.number < FIRST_FORM


@dataclass(frozen=True)
class Type:
    """One line of `chart.txt`: what the type takes from which attacking types."""

    name: str
    number: int
    double: tuple
    half: tuple
    none: tuple


def rows(name):
    """The lines of a table that say something, split at the bars; a `[heading]` comes alone."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in ([line] if line.startswith("[") else line.split("|"))]


def flags_of(text):
    return frozenset(flag for flag in FLAGS if flag in text)


def creatures():
    """All species, and all creatures in the order of the list: defaults first, then the other forms."""
    species, found, forms = {}, [], None
    for cells in rows("creatures.txt"):
        if len(cells) == 1:
            forms = 0
        elif forms is None:
            name, types, total, genus, marks = cells
            number, line_above = FIRST_NUMBER + len(species), list(species.values())[-1] if "<" in marks else None
            species[name] = Species(number, name, genus, flags_of(marks), line_above.name if line_above else "", line_above.first_of_line if line_above else number)
            default = next((mark.removeprefix("as=") for mark in marks.split() if mark.startswith("as=")), name)
            found.append(Creature(number, default, species[name], tuple(types.split()), int(total), flags_of(marks)))
        else:
            name, of, types, total, marks = cells
            found.append(Creature(FIRST_FORM + forms, name, species[of], tuple(types.split()), int(total), flags_of(marks)))
            forms += 1
    return list(species.values()), found


def chart():
    """The types in the order of their numbers."""
    return [Type(name, int(number), *(tuple(cell.split()) for cell in lists)) for name, number, *lists in rows("chart.txt")]
