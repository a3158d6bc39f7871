"""Words that monsters share: attacks, traits, feats. `{it}` is what a text calls its monster, `{dc}` what a save must reach."""

# By type: name of an attack, its damage, and another one that rides on it, or nothing.
ATTACKS = {
    "beast": [("Snap", "piercing", ""), ("Kick", "bludgeoning", ""), ("Scratch", "slashing", ""), ("Butt", "bludgeoning", "")],
    "humanoid": [("Billhook", "slashing", ""), ("Boat Pole", "bludgeoning", ""), ("Long Knife", "piercing", ""), ("Hand Axe", "slashing", "")],
    "dragon": [("Jaws", "piercing", "fire"), ("Talons", "slashing", ""), ("Tail Sweep", "bludgeoning", ""), ("Wing Hook", "slashing", "")],
    "monstrosity": [("Mandibles", "piercing", "acid"), ("Hook", "slashing", ""), ("Trample", "bludgeoning", ""), ("Barb", "piercing", "poison")],
    "fiend": [("Hot Iron", "bludgeoning", "fire"), ("Quill", "piercing", "poison"), ("Ledger Chain", "slashing", ""), ("Grasp", "bludgeoning", "")],
    "undead": [("Cold Hand", "bludgeoning", "necrotic"), ("Rusted Edge", "slashing", ""), ("Wail of Splinters", "piercing", "cold")],
    "elemental": [("Surge", "bludgeoning", "cold"), ("Shard", "piercing", ""), ("Scald", "fire", ""), ("Lash", "slashing", "lightning")],
    "construct": [("Hammer Arm", "bludgeoning", ""), ("Rivet", "piercing", ""), ("Saw Wheel", "slashing", ""), ("Press", "bludgeoning", "")],
    "giant": [("Fence Post", "bludgeoning", ""), ("Boot", "bludgeoning", ""), ("Ploughshare", "slashing", ""), ("Boulder Toss", "bludgeoning", "")],
    "celestial": [("Bright Edge", "slashing", "radiant"), ("Hoof of Morning", "bludgeoning", "radiant"), ("Ray", "radiant", "")],
    "aberration": [("Feeler", "bludgeoning", "psychic"), ("Wrong Elbow", "bludgeoning", ""), ("Needle Gaze", "psychic", ""), ("Suckers", "piercing", "acid")],
    "fey": [("Thorn Pin", "piercing", ""), ("Nettle Whip", "slashing", "poison"), ("Silver Shears", "slashing", ""), ("Sour Note", "psychic", "")],
    "ooze": [("Slap", "bludgeoning", "acid"), ("Engulfing Fold", "acid", ""), ("Splash", "acid", "")],
    "plant": [("Thorned Limb", "piercing", ""), ("Root Snare", "bludgeoning", ""), ("Stinging Leaves", "slashing", "poison")],
    "swarm of Tiny beasts": [("Many Small Bites", "piercing", ""), ("Flurry", "slashing", "")],
}

TRAITS = [
    ("Light Sleeper", "{it} cannot be surprised by anyone who wears boots, and wakes at the sound of a coin."),
    ("Sure of Foot", "Mud, ice and loose stone do not slow {it}, and it leaves prints only where it wants to."),
    ("Old Grudge", "Once a creature has hurt {it}, it knows that creature's direction until the next sunrise."),
    ("Damp Hide", "Fire goes out within 5 feet of {it} unless someone tends it, and torches burn there with half their light."),
    ("Borrowed Voice", "{it} repeats any sentence it has heard that day. A listener who succeeds on a DC {dc} Wisdom (Insight) check hears that it is not the speaker."),
    ("Two Breaths", "{it} breathes air and water alike, though it complains about one of them."),
    ("Close Ranks", "While an ally stands within 5 feet of {it}, neither of them can be pushed, pulled or knocked over."),
    ("Slow to Anger", "In the first round of a fight {it} cannot attack anyone who has not come nearer. From the second round on, it adds a d4 to its attack rolls."),
    ("Hard to Hold", "{it} ends any grapple at the start of its turn and slips through gaps that are a hand wide."),
    ("Counts Everything", "{it} always knows how many creatures it can see, and which of them were not there a moment before."),
    ("Weathered", "{it} has advantage on saving throws against anything that comes from the sky."),
    ("Afraid of Bells", "When a bell rings within 60 feet, {it} must succeed on a DC {dc} Wisdom saving throw or move away from it until the end of its turn."),
    ("Night Eyes", "Dim light is bright to {it}. In full sunlight it squints, and has disadvantage on checks that rely on sight."),
    ("Unhurried", "{it} cannot be frightened, and effects that would hasten or slow it fail."),
    ("Smells Iron", "{it} notices metal within 30 feet, even behind a finger of wood or a hand of earth."),
    ("Brittle", "A critical hit against {it} deals its extra dice twice, and the pieces count as rough ground."),
    ("Keeps Its Word", "{it} cannot break a promise that it gave aloud. It gives few."),
    ("Leaves No Crumbs", "Whatever {it} eats is gone with buckles and bones, and with it every trace that could be followed."),
]

# Of all beings with legendary actions.
LAST_WORD = ("Has the Last Word", "When {it} fails a saving throw, it may decide that it did not.")

# Name, text, ability of the saving throw, damage, what a success means.
FEATS = [
    ("Ground Tremor", "{it} strikes the ground. Each creature within 15 feet that stands on it must make a DC {dc} Dexterity saving throw, taking {damage} on a failed save, or half as much on a successful one.", "dex", "bludgeoning", "half"),
    ("Dread Stillness", "Every sound within 30 feet of {it} stops. Each creature there that can hear must succeed on a DC {dc} Wisdom saving throw or be frightened until the end of its next turn.", "wis", "", "none"),
    ("Bitter Cloud", "A cloud of 10 feet rises around {it}. A creature that begins its turn in it must make a DC {dc} Constitution saving throw, taking {damage} on a failed save, or half as much on a successful one.", "con", "poison", "half"),
    ("Tug of the Deep", "{it} names one creature within 60 feet that it can see. That creature must succeed on a DC {dc} Strength saving throw or be pulled up to 20 feet towards it.", "str", "", "none"),
    ("Sudden Frost", "Water within 20 feet of {it} freezes. Each creature that stands in it must make a DC {dc} Constitution saving throw, taking {damage} on a failed save, or half as much on a successful one.", "con", "cold", "half"),
    ("Unpaid Bill", "{it} reads a name aloud. Whoever bears it and hears it must succeed on a DC {dc} Charisma saving throw, or takes {damage} and cannot regain hit points until the end of its next turn.", "cha", "psychic", "none"),
]

REACTIONS = [
    ("Turn Aside", "When a melee attack would hit {it}, it may add its proficiency bonus to its armor class for that attack, if it sees who attacks."),
    ("Step Back", "When a creature ends its move within 5 feet of {it}, it may move up to 10 feet away without provoking an attack."),
    ("Cry Out", "When bright light or a stranger comes within 30 feet of {it}, it screams, and is heard 300 feet away until the end of its next turn."),
]

LEGENDARY = [
    ("Look Around", "{it} makes a Wisdom (Perception) check.", ""),
    ("Stride", "{it} moves up to half its speed, and nobody may attack it for leaving.", ""),
    ("Strike Again", "{it} makes one attack.", ""),
    ("Stare Down (Costs 2 Actions)", "{it} looks at one creature within 30 feet, which must succeed on a DC {dc} Wisdom saving throw or drop what it holds and be frightened until the end of its next turn.", "wis"),
    ("Shake the Hall (Costs 2 Actions)", "Each creature within 10 feet of {it} must succeed on a DC {dc} Strength saving throw, or it takes {damage} and falls prone.", "str"),
    ("Call in the Tide (Costs 3 Actions)", "Cold water stands a foot high within 60 feet of {it} for one round. Each other creature there must make a DC {dc} Constitution saving throw, taking {damage} on a failed save, or half as much on a successful one.", "con"),
]

# By level: made-up spells.
SPELLS = {
    0: ["Candle Thumb", "Knock on Wood", "Whistle Back", "Dry Socks"],
    1: ["Borrowed Ladder", "Cold Pocket", "Sour the Milk", "Mend the Fence"],
    2: ["Fog on the Ford", "Second Shadow", "Stuck Door"],
    3: ["Hail of Acorns", "Nobody Home", "Long Way Round"],
    4: ["Unpick the Seam", "Wall of Washing"],
    5: ["Bring Down the Belfry", "Winter by Noon"],
}

LANGUAGES = ["Trade Speech", "Trade Speech, Reed Whistle", "Hill Speech", "Hill Speech, Trade Speech", "Old Bell, telepathy 60 ft.", "understands Trade Speech but does not speak", "Moth Code"]

TOLD = [
    "Travellers tell of the {name} in every inn along the old road, and no two of them agree about its size. What they agree about is that it comes when the lamps are lit, and that it is better to have bread at hand.",
    "The first {name} was seen in the year of the great flood, on a door that floated down the river. Those of today keep away from water, from doors and from anyone who asks about that year.",
    "Children are told that a {name} counts their steps. It does not; but it does remember who passed, and it can be asked, if one is polite and has brought something that shines.",
]
