"""The records of the API, in its shape: Pokemon, species, types, and pages of the list."""

import json
import random

from creatures import Creature, Species, Type
from moves import ABILITIES, API, EDITIONS, MOVES, editions, learned, move, named

SPRITES = "https://raw.githubusercontent.com/PokeAPI/sprites/master/sprites"
STATS = ("hp", "attack", "defense", "special-attack", "special-defense", "speed")
LANGUAGES = (("ja-hrkt", 1), ("fr", 5), ("de", 6), ("es", 7), ("en", 9))
SIDES = ("back_default", "back_female", "back_shiny", "back_shiny_female", "front_default", "front_female", "front_shiny", "front_shiny_female")
# The keys of `sprites.versions`; all are empty for a creature that was in no game.
VERSIONS = {
    "generation-iii": ("emerald", "firered-leafgreen", "ruby-sapphire"), "generation-iv": ("diamond-pearl", "heartgold-soulsilver", "platinum"),
    "generation-v": ("black-white",), "generation-vi": ("omegaruby-alphasapphire", "x-y"), "generation-vii": ("icons", "ultra-sun-ultra-moon"),
    "generation-viii": ("icons",),
}
SENTENCES = (
    "It sleeps in the bread drawer and\nwakes when somebody says Thursday.", "Nobody has seen it hurry.\fIt arrives all the same.",
    "It collects odd keys, and knows\nwhich door each of them would open.", "When it is cross it rear\u00adranges\nthe furniture by height.",
    "Old maps show it as a small hill.", "It hums one note all day and\fanother one at night.", "Bakers leave a crust out for it,\nand find the steps swept.",
    "It can tell a left shoe from a right\none in the dark.", "Its shadow is a little late.",
)
COLORS = ("black", "blue", "brown", "gray", "green", "pink", "purple", "red", "white", "yellow")
SHAPES = ("ball", "squiggle", "fish", "arms", "blob", "upright", "legs", "quadruped", "wings")
GROWTH = ("slow", "medium", "fast", "medium-slow")
EGGS = ("monster", "water1", "bug", "flying", "ground", "fairy", "plant", "mineral")


def numbered(name, resource, names):
    return named(name, resource, names.index(name) + 1)


def sprite_address(creature: Creature):
    """Where its front sprite is; nothing when it has none."""
    return None if "no sprite" in creature.flags else f"{SPRITES}/pokemon/{creature.number}.png"


def sprites(creature: Creature):
    front = sprite_address(creature)
    empty = dict.fromkeys(SIDES)
    versions = {generation: {game: dict(empty) for game in games} for generation, games in VERSIONS.items()}
    return empty | {"front_default": front, "other": {
        "dream_world": {"front_default": None, "front_female": None},
        "home": dict.fromkeys(SIDES[4:]) | {"front_default": front and front.replace("/pokemon/", "/pokemon/other/home/")},
        "official-artwork": {"front_default": front and front.replace("/pokemon/", "/pokemon/other/official-artwork/"), "front_shiny": None},
        "showdown": dict(empty),
    }, "versions": versions}


def stats(lot, total):
    """Six base stats with this sum."""
    weights = [lot.uniform(0.6, 1.4) for _ in STATS]
    values = [round(total * weight / sum(weights)) for weight in weights]
    values[values.index(max(values))] += total - sum(values)
    return [{"base_stat": value, "effort": int(value == max(values)), "stat": numbered(name, "stat", STATS)} for name, value in zip(STATS, values)]


def pokemon(creature: Creature, types: dict):
    """All 21 fields. The same for the same line of the table."""
    lot = random.Random(f"pokemon {creature.number}")
    thin, in_editions = "thin" in creature.flags, editions(creature.species.number % 1000)
    abilities = lot.sample(ABILITIES, 3)
    number = creature.number
    slots = [] if thin else [(abilities[0], False, 1)] + ([(abilities[1], False, 2)] if lot.random() < 0.5 else []) + [(abilities[2], True, 3)]
    return {
        "abilities": [{"ability": named(name, "ability", 9001 + ABILITIES.index(name)), "is_hidden": hidden, "slot": slot} for name, hidden, slot in slots],
        "base_experience": None if "null" in creature.flags else creature.total // 3 - 40,
        "cries": {"latest": f"https://raw.githubusercontent.com/PokeAPI/cries/main/cries/pokemon/latest/{number}.ogg", "legacy": None},
        "forms": [named(creature.name, "pokemon-form", number)],
        "game_indices": [] if not creature.is_default else [
            {"game_index": number % 1000, "version": named(version, "version", 9001 + 2 * EDITIONS.index((edition, generation)) + side)}
            for edition, generation in in_editions for side, version in enumerate(edition.split("-"))
        ],
        "height": lot.randint(2, 24),
        "held_items": [],
        "id": number,
        "is_default": creature.is_default,
        "location_area_encounters": f"{API}/pokemon/{number}/encounters",
        "moves": [] if thin else learned(lot, creature.types, in_editions),
        "name": creature.name,
        "order": number % 1000 if creature.is_default else -1,
        "past_abilities": [] if thin or lot.random() < 0.6 else [
            {"abilities": [{"ability": None, "is_hidden": True, "slot": 3}], "generation": named("generation-iv", "generation", 4)}
        ],
        "past_stats": [],
        "past_types": [{"generation": named("generation-v", "generation", 5), "types": [slot("normal", 1, types)]}]
        if creature.types == ("fairy",) else [],
        "species": named(creature.species.name, "pokemon-species", creature.species.number),
        "sprites": sprites(creature),
        "stats": stats(lot, creature.total),
        "types": [slot(name, index, types) for index, name in enumerate(creature.types, 1)],
        "weight": lot.randint(1, 2400),
    }


def slot(name, number, types):
    return {"slot": number, "type": named(name, "type", types[name].number)}


def species(one: Species, creatures):
    """All 27 fields."""
    lot = random.Random(f"species {one.number}")
    language = {name: named(name, "language", number) for name, number in LANGUAGES}
    rank, in_editions = one.number % 1000, editions(one.number % 1000)
    texts = [
        {"flavor_text": lot.choice(SENTENCES), "language": language["en"], "version": named(version, "version", 9001 + 2 * EDITIONS.index(edition) + side)}
        for edition in in_editions for side, version in enumerate(edition[0].split("-"))
    ]
    generation = ("generation-i", "generation-ii", "generation-iii", "generation-iv", "generation-v")[min(4, rank // 18)]
    return {
        "base_happiness": 50, "capture_rate": 3 if one.flags & {"legendary", "mythical"} else lot.choice((45, 90, 190)),
        "color": numbered(lot.choice(COLORS), "pokemon-color", COLORS),
        "egg_groups": [numbered(name, "egg-group", EGGS) for name in lot.sample(EGGS, lot.choice((1, 2)))],
        "evolution_chain": {"url": f"{API}/evolution-chain/{one.first_of_line}/"},
        "evolves_from_species": named(one.evolves_from, "pokemon-species", one.number - 1) if one.evolves_from else None,
        "flavor_text_entries": texts, "form_descriptions": [], "forms_switchable": False,
        "gender_rate": -1 if "legendary" in one.flags else lot.choice((1, 4, 4)),
        "genera": [{"genus": f"{one.genus} Pokémon", "language": language["en"]}],
        "generation": named(generation, "generation", min(4, rank // 18) + 1),
        "growth_rate": numbered(lot.choice(GROWTH), "growth-rate", GROWTH),
        "habitat": None if lot.random() < 0.6 else named("urban", "pokemon-habitat", 8),
        "has_gender_differences": False, "hatch_counter": 20, "id": one.number, "is_baby": "baby" in one.flags,
        "is_legendary": "legendary" in one.flags, "is_mythical": "mythical" in one.flags, "name": one.name,
        "names": [{"language": language[name], "name": one.name.capitalize()} for name, _ in LANGUAGES],
        "order": rank, "pal_park_encounters": [],
        "pokedex_numbers": [{"entry_number": rank, "pokedex": named("national", "pokedex", 1)}],
        "shape": numbered(lot.choice(SHAPES), "pokemon-shape", SHAPES),
        "varieties": [
            {"is_default": creature.is_default, "pokemon": named(creature.name, "pokemon", creature.number)}
            for creature in creatures if creature.species == one
        ],
    }


def type_record(one: Type, types: dict, creatures):
    """All 11 fields. What it does to others is what they take from it."""
    def references(names):
        return [named(name, "type", types[name].number) for name in names]

    def takes(key):
        return [other.name for other in types.values() if one.name in getattr(other, key)]

    has_class = one.name not in ("fairy", "stellar", "unknown", "shadow")
    return {
        "damage_relations": {
            "double_damage_from": references(one.double), "double_damage_to": references(takes("double")),
            "half_damage_from": references(one.half), "half_damage_to": references(takes("half")),
            "no_damage_from": references(one.none), "no_damage_to": references(takes("none")),
        },
        "game_indices": [], "generation": named("generation-i", "generation", 1), "id": one.number,
        "move_damage_class": named("physical", "move-damage-class", 2) if has_class else None,
        "moves": [move(name) for name, (kind, _) in MOVES.items() if kind == one.name],
        "name": one.name, "names": [{"language": named("en", "language", 9), "name": one.name.capitalize()}],
        "past_damage_relations": [],
        "pokemon": [
            {"pokemon": named(creature.name, "pokemon", creature.number), "slot": creature.types.index(one.name) + 1}
            for creature in creatures if one.name in creature.types
        ],
        "sprites": {},
    }


def page(creatures, offset, limit):
    """One page of the list. Near its end `next` asks for what is left, as the real one does."""
    after, before = offset + limit, max(offset - limit, 0)
    more = min(limit, len(creatures) - after)
    return {
        "count": len(creatures), "next": f"{API}/pokemon?offset={after}&limit={more}" if more > 0 else None,
        "previous": f"{API}/pokemon?offset={before}&limit={offset - before}" if offset > 0 else None,
        "results": [named(creature.name, "pokemon", creature.number) for creature in creatures[offset:after]],
    }


def as_body(value):
    """JSON as the API sends it: compact, not escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
