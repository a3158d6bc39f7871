"""Made-up moves, abilities and editions, and what a creature learns in which of them: most of a record's bytes."""

FIRST = {
    "normal": "plain", "fighting": "crate", "flying": "gust", "poison": "sour", "ground": "furrow", "rock": "scree", "bug": "thimble",
    "ghost": "attic", "steel": "rivet", "fire": "kiln", "water": "brook", "grass": "hedge", "electric": "fuse", "psychic": "riddle",
    "ice": "sleet", "dragon": "comet", "dark": "alley", "fairy": "ribbon",
}
SECOND = ("nudge", "parade", "whistle", "tumble", "lantern", "quarrel", "ladder", "bargain", "curtain", "errand", "anthem", "shuffle")
# Every move by name, with its type and number.
MOVES = {
    f"{first}-{second}": (kind, 90001 + 12 * row + column)
    for row, (kind, first) in enumerate(FIRST.items())
    for column, second in enumerate(SECOND)
}
ABILITIES = ("deep-pockets", "damp-socks", "early-bird-song", "borrowed-hat", "long-lunch", "good-neighbour", "steady-ladder", "second-wind-chime")
# Version groups, each of two versions.
EDITIONS = (("teapot-kettle", 1), ("compass-ruler", 2), ("button-thread", 3), ("pepper-salt", 5), ("lamp-candle", 7), ("fork-spoon", 9))
METHODS = (("level-up", 1), ("egg", 2), ("tutor", 3), ("machine", 4))
API = "https://pokeapi.co/api/v2"


def named(name, resource, number):
    """A reference as the API writes it."""
    return {"name": name, "url": f"{API}/{resource}/{number}/"}


def move(name):
    return named(name, "move", MOVES[name][1])


def editions(first_number):
    """Which editions a creature is in: the later its number, the fewer, as in the real one."""
    return EDITIONS[min(len(EDITIONS) - 2, first_number // 18):]


def learned(lot, types, in_editions):
    """`moves` of a record: many of its own types, some of any other, each as often as there are ways to learn it."""
    own = lot.sample([name for name, (kind, _) in MOVES.items() if kind in types], lot.randint(8, 12))
    others = lot.sample([name for name in MOVES if name not in own], lot.randint(8, 20))
    found = []
    for name in sorted(own + others, key=lambda name: MOVES[name][1]):
        details = []
        for order, (edition, _) in enumerate(in_editions):
            for method, number in lot.sample(METHODS, lot.choice((1, 1, 2))) if lot.random() < 0.8 else ():
                by_level = method == "level-up"
                details.append({
                    "level_learned_at": lot.randint(1, 70) if by_level else 0,
                    "move_learn_method": named(method, "move-learn-method", number),
                    "order": lot.randint(1, 30) if by_level and lot.random() < 0.5 else None,
                    "version_group": named(edition, "version-group", 9001 + EDITIONS.index(in_editions[order])),
                })
        if details:
            found.append({"move": move(name), "version_group_details": details})
    return found
