"""Sprites of the made-up creatures: 96 by 96 pixels, drawn from number and types, the same every time."""

import io
import random

from PIL import Image, ImageDraw

from creatures import Creature

PIXELS, SCALE = 48, 2  # drawn small and enlarged, so that pixels show
COLOURS = {
    "normal": "#b3a98f", "fighting": "#b5533c", "flying": "#93a5dd", "poison": "#96579b", "ground": "#c79a55", "rock": "#9c8a5a",
    "bug": "#8ea53a", "ghost": "#6f5f97", "steel": "#95a2b3", "fire": "#e0713a", "water": "#4f8fd1", "grass": "#5fa34b",
    "electric": "#e5bb35", "psychic": "#dd6a93", "ice": "#86c8cf", "dragon": "#6a58c4", "dark": "#5c5157", "fairy": "#dd98c0",
}
INK = "#2b2730"


def draw_sprite(creature: Creature):
    """The front sprite as a PNG with a transparent ground."""
    lot = random.Random(f"sprite {creature.number}")
    main, second = COLOURS[creature.types[0]], COLOURS[creature.types[-1]]
    image = Image.new("RGBA", (PIXELS, PIXELS), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    grown = min(1, max(0, (creature.total - 250) / 350))
    wide, high = round(8 + 4 * grown + lot.randint(-1, 1)), round(7 + 5 * grown + lot.randint(-1, 1))
    x, floor = PIXELS // 2, PIXELS - 5
    y = floor - 3 - high
    tail(draw, lot, x + wide - 2, y + high - 4, second)
    if lot.random() < 0.45:
        wings(draw, lot, x, y, wide, second)
    for side in (-1, 1):  # feet
        draw.ellipse(box(x + side * wide * 0.5, floor - 2, 4, 3), main, INK)
    draw.ellipse(box(x, y, wide, high), main, INK)
    draw.ellipse(box(x, y + high * 0.35, wide * 0.6, high * 0.5), mixed(second, "#ffffff", 0.45))
    head = round(wide * lot.uniform(0.75, 0.95))
    top = y - high + 2
    ears(draw, lot, x, top, head, second)
    draw.ellipse(box(x, top, head, head * 0.85), main, INK)
    face(draw, lot, x, top, head)
    spots(draw, lot, x, y, wide, high, mixed(main, INK, 0.35))
    stream = io.BytesIO()
    image.resize((PIXELS * SCALE,) * 2, Image.Resampling.NEAREST).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def box(x, y, wide, high):
    return [round(x - wide), round(y - high), round(x + wide), round(y + high)]


def mixed(one, other, part):
    pairs = [(int(one[at:at + 2], 16), int(other[at:at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def tail(draw, lot, x, y, colour):
    length = lot.randint(5, 9)
    if lot.random() < 0.5:
        draw.polygon([(x, y), (x + length, y - lot.randint(2, 10)), (x + 2, y + 4)], colour, INK)
    else:
        draw.ellipse(box(x + length // 2, y, length // 2 + 1, 3), colour, INK)


def wings(draw, lot, x, y, wide, colour):
    reach, lift = lot.randint(7, 10), lot.randint(4, 11)
    for side in (-1, 1):
        draw.polygon([(x + side * (wide - 2), y), (x + side * (wide + reach), y - lift), (x + side * (wide + reach - 3), y + 4)], colour, INK)


def ears(draw, lot, x, top, head, colour):
    kind, tall = lot.choice(("points", "rounds", "horn", "leaf")), lot.randint(5, 9)
    for side in (-1, 1):
        at = x + side * head * 0.65
        if kind == "points":
            draw.polygon([(at - 3, top - 2), (at + side * 2, top - head * 0.6 - tall), (at + 3, top - 2)], colour, INK)
        elif kind == "rounds":
            draw.ellipse(box(at, top - head * 0.6, 4, 4), colour, INK)
    if kind == "horn":
        draw.polygon([(x - 3, top - head * 0.6), (x, top - head * 0.6 - tall), (x + 3, top - head * 0.6)], colour, INK)
    elif kind == "leaf":
        draw.ellipse(box(x + 2, top - head * 0.8 - 3, 5, 3), colour, INK)


def face(draw, lot, x, top, head):
    apart, big = head * lot.uniform(0.35, 0.5), lot.choice((1, 2))
    for side in (-1, 1):
        draw.ellipse(box(x + side * apart, top - 1, big + 1, big + 1), "#ffffff", INK)
        draw.point((round(x + side * apart), round(top - 1)), INK)
    if lot.random() < 0.5:
        draw.arc(box(x, top + head * 0.25, 3, 2), 10, 170, INK)
    else:
        draw.line([(x - 2, round(top + head * 0.4)), (x + 2, round(top + head * 0.4))], INK)


def spots(draw, lot, x, y, wide, high, colour):
    for _ in range(lot.choice((0, 0, 3, 5))):
        at, down = x + lot.uniform(-0.7, 0.7) * wide, y + lot.uniform(-0.2, 0.5) * high
        draw.ellipse(box(at, down, 1, 1), colour)
