"""Things that stand on a table: figures, vessels, garments, instruments, jewels."""

from .cat import cat, face
from .pen import mix

DARK = (40, 32, 32)


def shade(palette, share=0.35):
    return mix(palette.material, DARK, share)


def figure(pen, palette):
    pen.block(20, 82, 80, 92, shade(palette, 0.5), corner=2)
    pen.block(24, 78, 76, 84, shade(palette, 0.3), corner=2)
    cat(pen.square(50, 16, 70), palette.pose, palette.carved)


def vessel(pen, palette):
    body, dark = palette.material, shade(palette)
    shape = palette.lot.choice(("jar", "bowl", "pot"))
    if shape == "bowl":
        pen.block(38, 80, 62, 90, dark)
        pen.draw.pieslice([*pen.at(10, 0), *pen.at(90, 86)], 0, 180, body)
        pen.oval(10, 37, 90, 49, dark)
        cat(pen.square(50, 50, 30), palette.pose, palette.look)
        return
    pen.oval(18, 26, 82, 90, body)
    pen.block(36, 12, 64, 36, body)
    pen.oval(32, 8, 68, 18, dark)
    if shape == "pot":
        pen.curve(70, 34, 98, 70, 270, 90, dark, 4)
        pen.shape([(22, 46), (4, 34), (2, 40), (20, 62)], body)
    for y in (36, 80):
        pen.stroke([(26 if y > 50 else 30, y), (74 if y > 50 else 70, y)], palette.second, 1.6)
    cat(pen.square(50, 38, 40), palette.pose, palette.look)


def garment(pen, palette):
    cloth, trim = palette.material, palette.second
    pen.shape([(36, 10), (64, 10), (84, 28), (76, 42), (66, 36), (66, 52), (88, 92), (12, 92), (34, 52), (34, 36), (24, 42), (16, 28)], cloth)
    pen.shape([(42, 10), (58, 10), (50, 22)], mix(cloth, DARK, 0.4))
    pen.stroke([(14, 88), (86, 88)], trim, 2)
    pen.stroke([(34, 52), (66, 52)], trim, 2.4)
    for x in (26, 50, 74):
        face(pen.square(x, 68, 15), palette.look)
    for y in (28, 36, 44):
        pen.oval(48.5, y, 51.5, y + 3, trim)


def mask(pen, palette):
    pen.stroke([(50, 60), (50, 92)], shade(palette, 0.6), 3)
    face(pen.square(50, 8, 76), palette.carved)
    for x in (18, 76):
        pen.oval(x, 52, x + 7, 60, palette.accent)
    pen.shape([(44, 20), (56, 20), (50, 34)], palette.second)


def seat(pen, palette):
    wood = shade(palette, 0.2)
    for x in (26, 72):
        pen.stroke([(x, 54), (x - 2, 92)], wood, 3.5)
    for x in (34, 64):
        pen.stroke([(x, 54), (x, 84)], shade(palette, 0.5), 3)
    for x in (28, 40, 52, 64, 70):
        pen.stroke([(x, 8), (x, 50)], wood, 2)
    pen.block(24, 6, 74, 14, wood, corner=3)
    pen.block(20, 50, 80, 58, palette.accent, corner=3)
    cat(pen.square(49, 17, 36), palette.lot.choice(("loaf", "curl")), palette.look)


def clock(pen, palette):
    gilt = palette.material
    pen.block(22, 80, 78, 92, shade(palette, 0.5), corner=2)
    pen.shape([(28, 80), (34, 44), (66, 44), (72, 80)], gilt)
    pen.oval(34, 46, 66, 76, (248, 244, 232), shade(palette), 1.4)
    pen.stroke([(50, 61), (50, 51)], DARK, 1)
    pen.stroke([(50, 61), (58, 64)], DARK, 1)
    cat(pen.square(50, 6, 46), palette.pose, palette.look)


def lamp(pen, palette):
    metal = palette.material
    pen.oval(30, 4, 70, 40, mix((250, 220, 140), palette.backdrop, 0.55))
    pen.shape([(50, 10), (56, 26), (50, 32), (44, 26)], (240, 170, 70))
    pen.block(47, 30, 53, 46, (244, 238, 222))
    pen.block(34, 44, 66, 50, metal, corner=2)
    pen.block(46, 50, 54, 84, shade(palette, 0.2))
    pen.block(28, 82, 72, 92, metal, corner=3)
    cat(pen.square(50, 48, 42), palette.pose, palette.carved)


def bell(pen, palette):
    metal, dark = palette.material, shade(palette)
    pen.curve(40, 4, 60, 22, 180, 360, dark, 3)
    pen.shape([(40, 14), (60, 14), (70, 60), (82, 80), (18, 80), (30, 60)], metal)
    pen.oval(18, 75, 82, 85, dark)
    pen.oval(44, 80, 56, 91, DARK)
    face(pen.square(50, 36, 32), palette.look)


def strings(pen, palette):
    wood, dark = palette.material, shade(palette, 0.55)
    pen.oval(26, 42, 74, 68, wood)
    pen.oval(22, 60, 78, 94, wood)
    pen.block(45, 18, 55, 62, dark)
    for x in (47, 49.2, 51.4, 53.4):
        pen.stroke([(x, 20), (x, 84)], (240, 234, 214), 0.4)
    for x in (36, 64):
        pen.curve(x - 4, 58, x + 4, 76, 60, 300 if x < 50 else 240, dark, 1)
    pen.block(42, 82, 58, 85, dark)
    face(pen.square(50, 2, 26), palette.look)


def jewel(pen, palette):
    metal = palette.material
    pen.oval(22, 30, 78, 92, None, metal, 6)
    pen.oval(24, 32, 76, 90, None, mix(metal, (255, 255, 255), 0.5), 1.2)
    pen.oval(28, 4, 72, 48, palette.accent, metal, 3)
    face(pen.square(50, 10, 30), palette.look)
    for x in (22, 74):
        pen.oval(x, 54, x + 5, 60, palette.second)


def box(pen, palette):
    side, dark = palette.material, shade(palette)
    pen.shape([(12, 40), (28, 24), (88, 24), (88, 70), (74, 88), (12, 88)], dark)
    pen.shape([(12, 40), (28, 24), (88, 24), (74, 40)], mix(side, (255, 250, 236), 0.4))
    pen.block(12, 40, 74, 88, side)
    pen.block(16, 45, 70, 83, None, palette.second, 1.2)
    cat(pen.square(43, 46, 36), palette.pose, palette.look)
    pen.oval(40, 37, 46, 43, (222, 190, 110))


def upright(pen, palette):
    metal = palette.material
    pen.block(28, 86, 72, 92, shade(palette, 0.6), corner=2)
    pen.shape([(44, 84), (42, 42), (50, 34), (58, 42), (56, 84)], metal)
    pen.stroke([(50, 40), (50, 82)], mix(metal, (255, 255, 255), 0.5), 0.8)
    pen.block(32, 40, 68, 46, palette.second, corner=3)
    cat(pen.square(50, 4, 44), palette.lot.choice(("sit", "walk", "stretch")), palette.look)


FORMS = {
    "figure": figure, "vessel": vessel, "garment": garment, "face": mask, "seat": seat, "clock": clock, "lamp": lamp,
    "bell": bell, "strings": strings, "jewel": jewel, "box": box, "upright": upright,
}
