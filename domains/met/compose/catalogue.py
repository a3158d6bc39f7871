"""Reads the three tables beside this file into plain objects."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FIRST_ID, ID_STEP = 9000003, 7  # far above every id of the real API, and with gaps as there
FLAGS = {"rich", "poor", "spaces", "closed", "no name", "no picture", "no cats", "lost"}

# The real department list: id, name in `/v1/departments`, name in records where it differs, folder of its images.
DEPARTMENTS = [
    (1, "American Decorative Arts", "The American Wing", "ad"),
    (3, "Ancient West Asian Art", "Ancient Near Eastern Art", "an"),
    (4, "Arms and Armor", "Arms and Armor", "aa"),
    (5, "Arts of Africa, Oceania, and the Americas", "The Michael C. Rockefeller Wing", "ao"),
    (6, "Asian Art", "Asian Art", "as"),
    (7, "The Cloisters", "The Cloisters", "cl"),
    (8, "The Costume Institute", "The Costume Institute", "ci"),
    (9, "Drawings and Prints", "Drawings and Prints", "dp"),
    (10, "Egyptian Art", "Egyptian Art", "eg"),
    (11, "European Paintings", "European Paintings", "ep"),
    (12, "European Sculpture and Decorative Arts", "European Sculpture and Decorative Arts", "es"),
    (13, "Greek and Roman Art", "Greek and Roman Art", "gr"),
    (14, "Islamic Art", "Islamic Art", "is"),
    (15, "The Robert Lehman Collection", "Robert Lehman Collection", "rl"),
    (16, "The Libraries", "The Libraries", "li"),
    (17, "Medieval Art", "Medieval Art", "md"),
    (18, "Musical Instruments", "Musical Instruments", "mi"),
    (19, "Photographs", "Photographs", "ph"),
    (21, "Modern Art", "Modern and Contemporary Art", "ma"),
]
BY_RECORD_NAME = {record_name: (number, folder) for number, _, record_name, folder in DEPARTMENTS}


@dataclass(frozen=True)
class Maker:
    """A workshop or a role; never a person."""

    number: int
    name: str
    role: str
    bio: str
    nationality: str
    first: int
    last: int


@dataclass(frozen=True)
class Piece:
    """One line of `catalogue.txt`."""

    object_id: int
    department: str
    kind: str
    classification: str
    form: str
    title: str
    maker: Maker | None
    culture: str
    first: int
    last: int
    medium: str
    tags: tuple
    flags: frozenset

    @property
    def department_id(self):
        return BY_RECORD_NAME[self.department][0]

    @property
    def folder(self):
        return BY_RECORD_NAME[self.department][1]

    @property
    def lost(self):
        """Search lists it, the API does not know it."""
        return "lost" in self.flags

    @property
    def public(self):
        return "closed" not in self.flags

    @property
    def pictured(self):
        return self.public and "no picture" not in self.flags


def rows(name):
    """The lines of a table that say something, split at the bars; a `[heading]` comes alone."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in ([line] if line.startswith("[") else line.split(" |"))]


def years(text):
    first, _, last = text.partition("..")
    return int(first), int(last or first)


def makers():
    found = {}
    for key, name, role, bio, nationality, dates in rows("makers.txt"):
        found[key] = Maker(9000101 + 13 * len(found), name, role, bio, nationality, *years(dates))
    return found


def kinds():
    """Name of a kind: its classification and the form of its drawing."""
    found, heading = {}, ("", "")
    for line in (HERE / "kinds.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            heading = tuple(part.strip() for part in line.strip("[]").split("|"))
        elif line and not line.startswith("#"):
            found.update((kind.strip(), heading) for kind in line.split(","))
    return found


def pieces():
    """The whole catalogue, in the order of its lines."""
    known_makers, known_kinds = makers(), kinds()
    found, department = [], ""
    for cells in rows("catalogue.txt"):
        if len(cells) == 1:
            department = cells[0].strip("[]")
            continue
        kind, title, maker, culture, dates, medium, words, marks = cells
        flags = frozenset(flag for flag in FLAGS if flag in marks)
        tags = ([] if "no cats" in flags else ["Cats"]) + [word.capitalize() for word in words.split()]
        found.append(Piece(
            FIRST_ID + ID_STEP * len(found), department, kind, *known_kinds[kind], title, known_makers.get(maker),
            culture, *years(dates), medium, tuple(tags), flags,
        ))
    return found
