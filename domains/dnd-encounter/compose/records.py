"""A monster as the API would tell it: its fields, in its order, with its habits."""

import json
import random

from bestiary import SIZES, Monster
from texts import ATTACKS, FEATS, LANGUAGES, LAST_WORD, LEGENDARY, REACTIONS, SPELLS, TOLD, TRAITS

API = "/api/2014"
ABILITIES = ("strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma")
HIT_DICE = dict(zip(SIZES, (4, 6, 8, 10, 12, 20)))
SKILLS = {"perception": "wisdom", "stealth": "dexterity", "insight": "wisdom", "athletics": "strength", "history": "intelligence"}
CONDITIONS = ("charmed", "exhaustion", "frightened", "poisoned", "prone")
# When the records were loaded, which a real answer says anew with each release.
LOADED = "2026-01-01T00:00:00.000Z"


def as_body(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def reference(collection, index, name):
    return {"index": index, "name": name, "url": f"{API}/{collection}/{index}"}


def slug(name):
    return name.lower().replace(" ", "-")


def modifier(score):
    return (score - 10) // 2


class Writer:
    """Writes one record. The same monster always gets the same one."""

    def __init__(self, monster: Monster):
        self.monster, self.lot = monster, random.Random(monster.name)
        self.bonus = 2 + max(0, (int(monster.rating) - 1) // 4)
        self.scores = self.abilities()
        self.dc = 8 + self.bonus + max(1, modifier(max(self.scores.values())))
        self.hit = self.bonus + max(0, modifier(max(self.scores["strength"], self.scores["dexterity"])))
        self.dice = 1 + int(monster.rating) // 4

    def abilities(self):
        bulk = SIZES.index(self.monster.size)
        low, high = 6 + bulk * 2, 11 + bulk * 3
        gain = int(self.monster.rating) // 4
        scores = {
            "strength": self.lot.randint(low, high) + gain,
            "dexterity": self.lot.randint(9, 17),
            "constitution": self.lot.randint(low, high) + gain // 2,
            "intelligence": self.lot.randint(1, 4) if self.monster.type == "beast" else self.lot.randint(6, 16) + gain // 2,
            "wisdom": self.lot.randint(8, 16) + gain // 2,
            "charisma": self.lot.randint(4, 16) + gain // 2,
        }
        return {name: min(30, score) for name, score in scores.items()}

    def say(self, text, damage=""):
        """A text about this monster."""
        text = text.format(it=f"the {self.monster.short}", dc=self.dc, damage=damage, name=self.monster.name)
        return text[0].upper() + text[1:]

    def damage(self, kind, dice=None, sides=6, plus=0):
        """A damage entry, and the words that say the same."""
        dice = dice or self.dice
        roll = f"{dice}d{sides}" + (f"+{plus}" if plus else "")
        mean = dice * (sides + 1) // 2 + plus
        spaced = f"{dice}d{sides}" + (f" + {plus}" if plus else "")
        return {"damage_type": reference("damage-types", kind, kind.capitalize()), "damage_dice": roll}, f"{mean} ({spaced}) {kind} damage"

    def save(self, ability, success):
        """What a saving throw is made with."""
        return {"dc_type": reference("ability-scores", ability, ability.upper()), "dc_value": self.dc, "success_type": success}

    def choice(self, *options):
        """A damage entry that is a choice of several."""
        entries = [{"option_type": "damage", **entry, **({"notes": notes} if notes else {})} for entry, notes in options]
        return {"choose": 1, "type": "damage", "from": {"option_set_type": "options_array", "options": entries}}

    def attack(self, name, kind, rider):
        """One attack; the first one of some is with a weapon for one or two hands."""
        plus = max(0, self.hit - self.bonus)
        entry, words = self.damage(kind, sides=self.lot.choice((4, 6, 8, 10)), plus=plus)
        entries = [entry]
        if "choice" in self.monster.special and kind != "piercing":
            both, more = self.damage(kind, sides=12, plus=plus)
            entries, words = [self.choice((entry, "One handed"), (both, "Two handed"))], f"{words}, or {more} with both hands"
        if "charge" in self.monster.special:
            pair = [self.damage(other, sides=6) for other in ("lightning", "thunder")]
            entries.append(self.choice(*((entry, "") for entry, _ in pair)))
            words += f", and {pair[0][1]} or the same of thunder"
        if rider:
            entry, more = self.damage(rider, sides=4)
            entries.append(entry)
            words += f" and {more}"
        reach = 5 * max(1, SIZES.index(self.monster.size) - 1)
        text = f"Melee attack: +{self.hit} to hit, reach {reach} ft., one target. On a hit: {words}."
        return {"name": name, "desc": text, "attack_bonus": self.hit, "damage": entries, "actions": []}

    def multiattack(self, attacks):
        """Several attacks at once, a fixed list or a choice."""
        first, last = attacks[0]["name"], attacks[-1]["name"]
        told = {"damage": [], "name": "Multiattack"}
        if "options" in self.monster.special:
            each = [{"option_type": "action", "action_name": name, "count": 1, "type": "melee"} for name in (first, last)]
            options = [
                {"option_type": "multiple", "items": each},
                {"option_type": "action", "action_name": first, "count": 2, "type": "melee", "desc": "If it has not moved"},
            ]
            desc = f"{{it}} attacks once with its {first} and once with its {last}, or twice with its {first} if it has not moved."
            chosen = {"choose": 1, "type": "action", "from": {"option_set_type": "options_array", "options": options}}
            return told | {"multiattack_type": "action_options", "desc": self.say(desc), "action_options": chosen, "actions": []}
        count = "Number of Heads" if "odd" in self.monster.special else "2" if self.monster.rating < 10 else "3"
        desc = f"{{it}} attacks with its {first} as often as it can" if count[0] == "N" else f"{{it}} attacks {count} times with its {first}"
        listed = [{"action_name": first, "count": count, "type": "melee"}]
        if self.monster.rating >= 8 and last != first:
            listed.append({"action_name": last, "count": "1", "type": "melee"})
            desc += f" and once with its {last}"
        return told | {"multiattack_type": "actions", "desc": self.say(desc + "."), "actions": listed}

    def feat(self, name, text, ability, kind, success):
        """Something worse than an attack, that has to rest in between."""
        entry, words = self.damage(kind, dice=self.dice * 3, sides=8) if kind else (None, "")
        usage = {"type": "recharge on roll", "dice": "1d6", "min_value": self.lot.choice((5, 6))}
        if self.lot.random() < 0.2:
            usage = {"type": "per day", "times": self.lot.choice((1, 3))}
        return {
            "name": name, "desc": self.say(text, words), "usage": usage, "dc": self.save(ability, success),
            "damage": [entry] if entry else [], "actions": [],
        }

    def breath(self):
        """One of two breaths, as options of an action."""
        entry, words = self.damage("acid", dice=self.dice * 3, sides=8)
        options = [
            {"option_type": "breath", "name": "Sour Breath", "dc": self.save("dex", "half"), "damage": [entry]},
            {"option_type": "breath", "name": "Drowsy Breath", "dc": self.save("con", "none")},
        ]
        text = f"{{it}} breathes out in one of two ways. Sour: each creature in a line of 60 feet must make a DC {{dc}} Dexterity saving throw, taking {words} on a failed save, or half as much on a successful one. Drowsy: each creature in a cone of 30 feet must succeed on a DC {{dc}} Constitution saving throw or fall asleep for a minute, or until it is hurt."
        return {
            "name": "Two Breaths", "desc": self.say(text), "usage": {"type": "recharge on roll", "dice": "1d6", "min_value": 5},
            "options": {"choose": 1, "type": "attack", "from": {"option_set_type": "options_array", "options": options}}, "damage": [], "actions": [],
        }

    def actions(self):
        if "still" in self.monster.special:
            return []
        pool = ATTACKS[self.monster.type]
        count = 1 if self.monster.rating < 1 else min(len(pool), 2 + int(self.monster.rating) // 6)
        attacks = [self.attack(*attack) for attack in self.lot.sample(pool, count)]
        several = [self.multiattack(attacks)] if self.monster.rating >= 2 or self.monster.special & {"odd", "options"} else []
        feats = [self.feat(*feat) for feat in self.lot.sample(FEATS, min(3, int(self.monster.rating + 1) // 4))]
        return several + attacks + feats + ([self.breath()] if "breath" in self.monster.special else [])

    def spells(self):
        """A trait with a list of spells."""
        highest = max(1, min(5, int(self.monster.rating) // 2))
        level = highest * 2 - 1
        known = [(name, number) for number in range(highest + 1) for name in self.lot.sample(SPELLS[number], 2)]
        slots = {str(number): max(1, 4 - number // 2) for number in range(1, highest + 1)}
        lines = []
        for number in range(highest + 1):
            names = ", ".join(name.lower() for name, of in known if of == number)
            lines.append(f"- At will: {names}" if number == 0 else f"- Level {number} ({slots[str(number)]} slots): {names}")
        ability = max(("intelligence", "wisdom", "charisma"), key=self.scores.get)
        text = f"{{it}} casts spells as one of level {level} does, with its {ability.capitalize()} (spell save DC {{dc}}). It has these ready:\n\n"
        return {
            "name": "Spellcasting", "desc": self.say(text) + "\n".join(lines),
            "spellcasting": {
                "level": level, "ability": reference("ability-scores", ability[:3], ability[:3].upper()), "dc": self.dc,
                "modifier": self.dc - 8, "components_required": ["V", "S", "M"], "school": "wizard", "slots": slots,
                "spells": [{"name": name, "level": number, "url": f"{API}/spells/{slug(name)}"} for name, number in known],
            },
            "damage": [],
        }

    def traits(self):
        count = self.lot.randint(0, 2) if self.monster.rating < 1 else self.lot.randint(1, 3)
        told = [{"name": name, "desc": self.say(text), "damage": []} for name, text in self.lot.sample(TRAITS, count)]
        if "legendary" in self.monster.special:
            usage = {"type": "per day", "times": 3, "rest_types": []}
            told.append({"name": LAST_WORD[0], "desc": self.say(LAST_WORD[1]), "usage": usage, "damage": []})
        return told + ([self.spells()] if "spells" in self.monster.special else [])

    def legendary_actions(self):
        if "legendary" not in self.monster.special:
            return []
        told = []
        for name, text, ability in [*LEGENDARY[:3], *self.lot.sample(LEGENDARY[3:], 2)]:
            entry, words = self.damage("bludgeoning", dice=self.dice, sides=8)
            action = {"name": name, "desc": self.say(text, words)}
            if ability:
                action["dc"] = self.save(ability, "half" if "half" in text else "none")
            told.append(action | {"damage": [entry] if "{damage}" in text else []})
        return told

    def armor_class(self):
        value = 10 + max(0, modifier(self.scores["dexterity"])) + int(self.monster.rating) // 3
        if self.monster.type == "humanoid":
            if "spells" in self.monster.special:
                spell = reference("spells", "coat-of-moths", "Coat of Moths")
                return [{"type": "dex", "value": value}, {"type": "spell", "value": value + 3, "spell": spell}]
            armor = [reference("equipment", "quilted-coat", "Quilted Coat"), reference("equipment", "shield", "Shield")]
            return [{"type": "armor", "value": value + 2, "armor": armor[: self.lot.randint(1, 2)]}]
        if self.monster.type == "plant":
            prone = reference("conditions", "prone", "Prone")
            return [{"type": "natural", "value": value + 2}, {"type": "condition", "value": value, "condition": prone}]
        if self.monster.type == "construct" and self.monster.size == "Medium":
            return [{"type": "armor", "value": value + 1, "desc": "bolted plates"}]
        return [{"type": "dex" if self.monster.rating < 1 else "natural", "value": value}]

    def speed(self):
        walk = {"walk": f"{self.lot.choice((20, 30, 40, 50))} ft."}
        if "hover" in self.monster.special:
            return {"fly": "40 ft.", "hover": True}
        other = {"dragon": {"fly": "80 ft.", "swim": "40 ft."}, "ooze": {"climb": "10 ft."}, "celestial": {"fly": "60 ft."},
                 "swarm of Tiny beasts": {"fly": "30 ft."}}.get(self.monster.type, {})
        return walk | (other or ({"burrow": "20 ft."} if self.lot.random() < 0.1 else {}))

    def proficiencies(self):
        told = []
        if self.monster.rating >= 4:
            for name in sorted(self.lot.sample(ABILITIES, 2), key=ABILITIES.index):
                proficiency = reference("proficiencies", f"saving-throw-{name[:3]}", f"Saving Throw: {name[:3].upper()}")
                told.append({"value": self.bonus + modifier(self.scores[name]), "proficiency": proficiency})
        for skill in sorted(self.lot.sample(sorted(SKILLS), self.lot.randint(0, 2))):
            proficiency = reference("proficiencies", f"skill-{skill}", f"Skill: {skill.capitalize()}")
            told.append({"value": self.bonus + modifier(self.scores[SKILLS[skill]]), "proficiency": proficiency})
        return told

    def senses(self):
        told = {"darkvision": "60 ft."} if self.monster.type not in ("beast", "humanoid") else {}
        if self.monster.type in ("ooze", "plant", "construct"):
            told = {"blindsight": "60 ft. (blind beyond this radius)"}
        return told | {"passive_perception": 10 + modifier(self.scores["wisdom"])}

    def hit_points(self):
        count = max(1, round(2 + self.monster.rating * 1.8))
        sides, plus = HIT_DICE[self.monster.size], count * modifier(self.scores["constitution"])
        points = max(1, count * (sides + 1) // 2 + plus)
        return {"hit_points": points, "hit_dice": f"{count}d{sides}", "hit_points_roll": f"{count}d{sides}" + (f"{plus:+d}" if plus else "")}

    def record(self, family):
        """The record. `family` are the other forms of this monster."""
        monster, lot = self.monster, self.lot
        bodiless = monster.type in ("undead", "construct", "ooze", "swarm of Tiny beasts")
        reactions = [{"name": name, "desc": self.say(text)} for name, text in lot.sample(REACTIONS, 1)] if "reaction" in monster.special else []
        told = {"index": monster.index, "name": monster.name}
        if "told" in monster.special:
            told["desc"] = lot.choice(TOLD).format(name=monster.name)
        told |= {"size": monster.size, "type": monster.type}
        if monster.subtype:
            told["subtype"] = monster.subtype
        return told | {
            "alignment": "unaligned" if monster.type in ("beast", "ooze", "plant") else lot.choice(("neutral", "any alignment", "lawful neutral", "chaotic neutral")),
            "armor_class": self.armor_class(), **self.hit_points(), "speed": self.speed(), **self.scores,
            "proficiencies": self.proficiencies(),
            "damage_vulnerabilities": ["fire"] if monster.type == "plant" else [],
            "damage_resistances": ["bludgeoning, piercing, and slashing from weapons that were never blessed"] if monster.type in ("fiend", "elemental") else [],
            "damage_immunities": ["poison"] if bodiless else [],
            "condition_immunities": [reference("conditions", name, name.capitalize()) for name in CONDITIONS if bodiless],
            "senses": self.senses(), "languages": "" if "silent" in monster.special else lot.choice(LANGUAGES),
            "challenge_rating": monster.rating, "proficiency_bonus": self.bonus, "xp": monster.xp,
            "special_abilities": self.traits(), "actions": self.actions(), "legendary_actions": self.legendary_actions(),
            "image": f"/api/images/monsters/{monster.index}.png", "url": f"{API}/monsters/{monster.index}", "updated_at": LOADED,
            "forms": [reference("monsters", other.index, other.name) for other in family], "reactions": reactions,
        }


def record(monster, everyone):
    family = [other for other in everyone if monster.form_of and other.form_of == monster.form_of and other != monster]
    return Writer(monster).record(family)
