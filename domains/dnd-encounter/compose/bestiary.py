"""Reads `monsters.txt` into plain objects."""

import re
from dataclasses import dataclass
from pathlib import Path

SPECIAL = {"legendary", "spells", "options", "odd", "choice", "charge", "breath", "reaction", "still", "told", "silent", "hover"}
SIZES = ("Tiny", "Small", "Medium", "Large", "Huge", "Gargantuan")

# What the game gives for a monster of each challenge rating.
EXPERIENCE = dict(zip(
    (0, 0.125, 0.25, 0.5, *range(1, 31)),
    (10, 25, 50, 100, 200, 450, 700, 1100, 1800, 2300, 2900, 3900, 5000, 5900, 7200, 8400, 10000, 11500, 13000, 15000, 18000, 20000,
     22000, 25000, 33000, 41000, 50000, 62000, 75000, 90000, 105000, 120000, 135000, 155000),
))


@dataclass(frozen=True)
class Monster:
    """One line of `monsters.txt`."""

    name: str
    size: str
    type: str
    subtype: str
    rating: float
    xp: int
    form_of: str
    special: frozenset

    @property
    def index(self):
        """The name as the API writes it in an address: `Night Heron (Sickened)` is `night-heron-sickened`."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower().replace("'", "")).strip("-")

    @property
    def short(self):
        """What texts call it: the last word of its name, without a form in brackets or behind a comma."""
        words = re.split(r",| \(", self.name)[0]
        return words.split(" of ")[0].split()[-1].lower()


def monsters():
    """All monsters, by index."""
    found, kind, race = [], "", ""
    for number, line in enumerate((Path(__file__).parent / "monsters.txt").read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            kind, _, race = line.strip("[]").partition(": ")
            continue
        name, size, rating, special = (part.strip() for part in line.split("|"))
        rating = float(rating) if "." in rating else int(rating)
        words = [word.strip() for word in special.split(",") if word.strip()]
        named = dict(word.split("=") for word in words if "=" in word)
        flags = frozenset(word for word in words if "=" not in word)
        if size not in SIZES or rating not in EXPERIENCE or flags - SPECIAL or set(named) - {"xp", "of", "race"}:
            raise SystemExit(f"monsters.txt, line {number}: {line}")
        xp = int(named.get("xp", EXPERIENCE[rating]))
        found.append(Monster(name, size, kind, named.get("race", race), rating, xp, named.get("of", ""), flags))
    return sorted(found, key=lambda monster: monster.index)
