"""The cat, in five poses and four coats. Every pose fills a square."""

from dataclasses import dataclass

from .pen import mix

POSES = ("sit", "loaf", "walk", "curl", "stretch")
COATS = ("plain", "striped", "patched", "masked")


@dataclass(frozen=True)
class Look:
    """How one cat looks."""

    fur: tuple
    line: tuple
    eyes: tuple
    coat: str

    @property
    def mark(self):
        """Colour of stripes and patches."""
        return mix(self.fur, self.line, 0.55)

    @property
    def belly(self):
        return mix(self.fur, (255, 252, 244), 0.6)


def cat(pen, pose, look):
    """A whole cat."""
    {"sit": sit, "loaf": loaf, "walk": walk, "curl": curl, "stretch": stretch}[pose](pen, look)


def face(pen, look):
    """A head seen from the front, filling the box."""
    for side in (-1, 1):
        def x(distance):
            return 50 + side * distance
        pen.shape([(x(40), 4), (x(44), 52), (x(8), 26)], look.fur)
        pen.shape([(x(36), 14), (x(38), 42), (x(16), 27)], mix(look.fur, (226, 140, 130), 0.5))
    pen.oval(6, 20, 94, 96, look.fur)
    if look.coat == "striped":
        for x, depth in ((38, 34), (50, 40), (62, 34)):
            pen.stroke([(x, 23), (x, depth)], look.mark, 4)
        for y in (58, 66):
            pen.stroke([(8, y), (22, y + 2)], look.mark, 3)
            pen.stroke([(92, y), (78, y + 2)], look.mark, 3)
    if look.coat == "patched":
        pen.oval(52, 24, 90, 64, look.mark)
    if look.coat == "masked":
        pen.oval(14, 36, 86, 62, look.mark)
    pen.oval(32, 60, 68, 92, look.belly)
    for x in (33, 67):
        pen.oval(x - 9, 42, x + 9, 60, look.eyes)
        pen.oval(x - 3, 42, x + 3, 60, look.line)
        pen.oval(x - 2, 44, x + 1, 48, (255, 255, 255))
    pen.shape([(45, 64), (55, 64), (50, 70)], (196, 110, 104))
    pen.curve(38, 64, 50, 80, 20, 150, look.line, 1.6)
    pen.curve(50, 64, 62, 80, 30, 160, look.line, 1.6)
    for side in (-1, 1):
        for y in (68, 74, 80):
            pen.stroke([(50 + side * 18, 72), (50 + side * 46, y)], look.line, 0.9)


def stripes(pen, look, marks):
    if look.coat == "striped":
        for first, last in marks:
            pen.stroke([first, last], look.mark, 3)
    if look.coat in ("patched", "masked"):
        (x, y), _ = marks[len(marks) // 2]
        pen.oval(x - 9, y - 4, x + 11, y + 14, look.mark)


def sit(pen, look):
    pen.stroke([(70, 90), (84, 88), (90, 74), (84, 62)], look.fur, 6)
    pen.shape([(36, 42), (64, 42), (78, 74), (74, 96), (26, 96), (22, 74)], look.fur)
    pen.oval(20, 58, 80, 98, look.fur)
    stripes(pen, look, [((68, 56), (60, 58)), ((73, 66), (63, 68)), ((76, 76), (66, 78))])
    pen.oval(40, 48, 60, 84, look.belly)
    for x in (41, 59):
        pen.block(x - 6, 66, x + 6, 96, look.fur, corner=5)
        pen.oval(x - 7, 89, x + 7, 98, look.belly)
    face(pen.inside(26, 4, 74, 52), look)


def loaf(pen, look):
    pen.oval(8, 50, 92, 98, look.fur)
    pen.block(10, 74, 92, 95, look.fur, corner=10)
    stripes(pen, look, [((60, 53), (60, 66)), ((70, 56), (69, 69)), ((80, 62), (77, 74))])
    pen.curve(64, 74, 96, 98, 10, 180, look.mark, 3)
    pen.oval(18, 86, 38, 97, look.belly)
    face(pen.inside(8, 26, 54, 74), look)


def walk(pen, look):
    pen.stroke([(82, 50), (94, 36), (90, 20), (96, 10)], look.fur, 6)
    for x, lean in ((28, -4), (40, 4), (68, -3), (80, 5)):
        pen.stroke([(x, 66), (x + lean, 94)], look.fur, 9)
        pen.oval(x + lean - 8, 90, x + lean + 5, 98, look.belly)
    pen.oval(18, 40, 90, 76, look.fur)
    stripes(pen, look, [((52, 42), (50, 56)), ((62, 41), (61, 57)), ((72, 43), (72, 58))])
    face(pen.inside(2, 18, 44, 60), look)


def curl(pen, look):
    pen.oval(6, 36, 94, 96, look.fur)
    pen.oval(36, 56, 70, 84, look.mark)
    stripes(pen, look, [((48, 38), (50, 50)), ((60, 39), (60, 52)), ((72, 44), (68, 55))])
    pen.curve(10, 44, 90, 93, 20, 165, look.mark, 7)
    face(pen.inside(10, 42, 52, 84), look)


def stretch(pen, look):
    pen.stroke([(86, 42), (92, 28), (84, 14)], look.fur, 6)
    pen.shape([(90, 36), (92, 92), (76, 92), (70, 66), (30, 88), (22, 76), (60, 34)], look.fur)
    pen.oval(66, 30, 96, 66, look.fur)
    stripes(pen, look, [((60, 40), (64, 54)), ((70, 36), (72, 50)), ((80, 34), (80, 48))])
    pen.stroke([(34, 86), (6, 93)], look.fur, 9)
    pen.oval(0, 89, 14, 98, look.belly)
    pen.oval(74, 88, 94, 98, look.belly)
    face(pen.inside(14, 44, 54, 84), look)
