"""Flat things: paintings, sheets, scrolls, cloth, tiles, reliefs."""

from dataclasses import replace
from math import cos, radians, sin

from .cat import cat, face
from .pen import mix

PAPER = (240, 232, 214)


def scenery(pen, palette):
    """A room or a landscape with one cat in it."""
    lot = palette.lot
    sky = mix(palette.second, (250, 244, 230), 0.55)
    pen.block(0, 0, 100, 100, sky)
    pen.block(0, 64, 100, 100, mix(palette.accent, (60, 44, 40), 0.25))
    subject = lot.choice(("window", "moon", "table", "hills", "flowers"))
    if subject == "window":
        pen.block(56, 8, 92, 50, (196, 216, 224), palette.ink, 1.4)
        pen.stroke([(74, 8), (74, 50)], palette.ink, 1.4)
        pen.stroke([(56, 29), (92, 29)], palette.ink, 1.4)
    if subject == "moon":
        pen.oval(64, 8, 86, 30, (250, 238, 200))
        pen.stroke([(4, 16), (30, 22), (44, 14)], palette.ink, 1.2)
    if subject == "table":
        pen.block(58, 52, 100, 60, (120, 82, 56))
        for left in (64, 76, 86):
            pen.oval(left, 40, left + 11, 53, lot.choice(((190, 60, 50), (222, 160, 60), (130, 160, 80))))
    if subject == "hills":
        pen.oval(0, 46, 62, 90, mix(palette.accent, sky, 0.4))
        pen.oval(38, 52, 100, 96, mix(palette.accent, sky, 0.2))
    if subject == "flowers":
        for x in (66, 76, 88):
            pen.stroke([(x, 64), (x + 2, lot.randint(24, 40))], (84, 116, 74), 1)
            pen.oval(x - 4, 22, x + 8, 36, palette.accent)
    cat(pen.square(lot.randint(36, 50), 34, 58), palette.pose, palette.look)


def picture(pen, palette):
    wood = palette.lot.choice(((176, 134, 66), (92, 62, 44), (206, 184, 140), (54, 48, 46)))
    pen.block(6, 5, 94, 95, mix(wood, (0, 0, 0), 0.35))
    pen.block(7, 6, 93, 94, wood)
    pen.block(12, 12, 88, 88, mix(wood, (255, 250, 220), 0.4))
    scenery(pen.inside(14, 14, 86, 86), palette)


def sheet(pen, palette):
    """Something printed, drawn or photographed: few colours on paper."""
    pen.block(8, 5, 94, 97, mix(palette.backdrop, (20, 20, 26), 0.3))
    pen.block(6, 3, 92, 95, PAPER)
    inner = pen.inside(12, 9, 86, 82)
    tone = mix(palette.ink, PAPER, palette.lot.choice((0.15, 0.3, 0.45)))
    inner.block(0, 0, 100, 100, mix(tone, PAPER, 0.75), tone, 0.8)
    for y in range(8, 60, 7):
        inner.stroke([(4, y), (96, y + palette.lot.randint(-2, 2))], mix(tone, PAPER, 0.55), 0.5)
    inner.block(1, 68, 99, 99, mix(tone, PAPER, 0.5))
    inner.oval(*palette.lot.choice(((8, 8, 30, 30), (66, 10, 92, 36))), palette.accent)
    cat(inner.square(50, 30, 62), palette.pose, palette.look)
    for y, end in ((86, 70), (89, 58)):
        pen.stroke([(14, y), (end, y)], mix(palette.ink, PAPER, 0.4), 0.6)


def scroll(pen, palette):
    pen.block(22, 2, 78, 98, mix(palette.second, (240, 230, 210), 0.35))
    pen.block(18, 3, 82, 6, (92, 66, 48), corner=1)
    pen.block(16, 94, 84, 98, (92, 66, 48), corner=1)
    inner = pen.inside(28, 16, 72, 86)
    inner.block(0, 0, 100, 100, PAPER)
    inner.oval(56, 6, 86, 24, (228, 214, 180))
    for x in (14, 26, 34):
        inner.stroke([(x, 96), (x + 6, 8)], mix(palette.ink, PAPER, 0.45), 2)
        for y in (20, 34, 52):
            inner.shape([(x + 4, y), (x + 22, y + 3), (x + 8, y + 6)], mix(palette.ink, PAPER, 0.35))
    cat(inner.square(56, 58, 66), palette.pose, palette.look)
    inner.block(82, 84, 92, 92, (178, 56, 46))


def screen(pen, palette):
    for panel in range(6):
        left = 3 + panel * 15.8
        lean = 3 if panel % 2 else 0
        pen.shape([(left, 14 + lean), (left + 15, 17 - lean), (left + 15, 87 - lean), (left, 84 + lean)], (204, 170, 96) if panel % 2 else (214, 182, 108))
        if panel % 2:
            cat(pen.square(left + 7.5, 46, 19), palette.lot.choice(("sit", "loaf", "walk", "curl")), palette.look)
        else:
            pen.stroke([(left + 3, 80), (left + 8, 40), (left + 5, 24)], palette.ink, 0.8)
            pen.oval(left + 1, 22, left + 12, 36, palette.second)


def book(pen, palette):
    pen.block(12, 4, 90, 96, mix(palette.backdrop, (20, 20, 26), 0.3))
    pen.block(10, 3, 88, 95, PAPER)
    scenery(pen.inside(20, 10, 80, 56), palette)
    pen.block(20, 10, 80, 56, None, (196, 156, 62), 1.2)
    for y in range(62, 88, 5):
        pen.stroke([(20, y), (palette.lot.randint(64, 80), y)], mix(palette.ink, PAPER, 0.3), 0.8)
    pen.block(20, 60, 30, 70, palette.accent)
    face(pen.square(25, 60.5, 9), palette.look)
    for y in (16, 30, 44, 72, 84):
        pen.oval(84, y, 87, y + 3, (196, 156, 62))


def cloth(pen, palette):
    base = mix(palette.material, palette.accent, 0.35)
    pen.block(5, 8, 95, 92, base)
    pen.block(9, 13, 91, 87, None, palette.second, 1.6)
    for x in range(6, 95, 4):
        for top, bottom in ((4, 8), (92, 96)):
            pen.stroke([(x, top), (x, bottom)], base, 0.6)
    for row in range(2):
        for column in range(3):
            middle, top = 23 + column * 27, 18 + row * 34
            pen.oval(middle - 11, top, middle + 11, top + 30, mix(base, (250, 244, 230), 0.55 if (row + column) % 2 else 0.35))
            if (row + column) % 2:
                face(pen.square(middle, top + 3, 17), palette.look)
            else:
                cat(pen.square(middle, top + 3, 18), palette.pose, palette.look)


def slab(pen, palette):
    stone, dark = palette.material, mix(palette.material, (40, 30, 30), 0.45)
    raised = replace(palette.carved, fur=mix(stone, (255, 250, 236), 0.45))
    pen.shape([(7, 14), (58, 8), (94, 12), (92, 90), (40, 94), (9, 88)], dark)
    pen.shape([(6, 12), (58, 6), (92, 10), (90, 87), (40, 91), (8, 86)], stone)
    cat(pen.square(34, 24, 42), palette.pose, raised)
    cat(pen.square(70, 36, 32), palette.lot.choice(("sit", "walk")), raised)
    for y in (76, 81):
        for x in range(14, 84, 7):
            pen.stroke([(x, y), (x + palette.lot.randint(1, 4), y + palette.lot.randint(-1, 2))], dark, 0.8)


def disc(pen, palette):
    edge = mix(palette.material, (30, 24, 24), 0.4)
    pen.oval(7, 7, 95, 97, mix(palette.backdrop, (20, 20, 26), 0.3))
    pen.oval(5, 4, 93, 94, edge)
    pen.oval(7, 6, 91, 92, palette.material)
    pen.oval(15, 14, 83, 84, mix(palette.material, (255, 250, 236), 0.35), palette.second, 1.6)
    if palette.lot.random() < 0.5:
        face(pen.square(49, 24, 46), palette.look)
    else:
        cat(pen.square(49, 22, 50), palette.pose, palette.look)


def fan(pen, palette):
    pen.draw.pieslice([*pen.at(0, 10), *pen.at(100, 170)], 200, 340, PAPER)
    for angle in range(-60, 61, 12):
        x, y = sin(radians(angle)), cos(radians(angle))
        pen.stroke([(50 + 18 * x, 90 - 28 * y), (50 + 46 * x, 90 - 74 * y)], mix(palette.accent, PAPER, 0.5), 0.7)
    pen.oval(32, 62, 68, 118, palette.backdrop)
    for x in (22, 74):
        pen.oval(x - 6, 26, x + 8, 40, palette.second)
    cat(pen.square(48, 18, 28), palette.pose, palette.look)


FORMS = {"picture": picture, "sheet": sheet, "scroll": scroll, "screen": screen, "book": book, "cloth": cloth, "slab": slab, "disc": disc, "fan": fan}
