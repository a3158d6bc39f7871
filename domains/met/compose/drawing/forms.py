"""Which drawing an object gets: the backdrop, the colours and the form of its kind."""

import random
from io import BytesIO

from . import flat, solid
from .cat import COATS, POSES, Look
from .pen import Pen, mix

FURS = [(222, 142, 74), (92, 88, 92), (236, 226, 208), (168, 142, 118), (60, 56, 62), (204, 176, 132), (140, 146, 158)]
EYES = [(214, 196, 84), (126, 178, 122), (112, 168, 200), (226, 160, 70)]
BACKDROPS = [(226, 224, 218), (212, 216, 218), (230, 222, 208), (206, 210, 202), (70, 74, 82), (196, 188, 180)]
INKS = [(58, 44, 40), (44, 50, 66), (64, 40, 56)]
ACCENTS = [(178, 72, 60), (62, 108, 132), (84, 122, 84), (196, 150, 60), (122, 84, 128), (54, 92, 110), (172, 106, 66)]
# A word of the medium, and the colour such a thing has.
MATERIALS = [
    ("faience", (92, 166, 178)), ("gold", (212, 168, 72)), ("gilt", (206, 164, 80)), ("gilded", (206, 164, 80)),
    ("silver", (186, 190, 196)), ("steel", (150, 156, 164)), ("iron", (92, 90, 94)), ("lead", (130, 132, 136)),
    ("pewter", (150, 152, 152)), ("bronze", (120, 112, 78)), ("brass", (190, 154, 82)), ("copper", (176, 104, 72)),
    ("hematite", (70, 68, 76)), ("ivory", (238, 228, 204)), ("porcelain", (240, 240, 238)), ("marble", (230, 228, 222)),
    ("limestone", (214, 200, 170)), ("alabaster", (226, 214, 196)), ("terracotta", (186, 104, 68)), ("clay", (176, 130, 96)),
    ("stonepaste", (110, 170, 176)), ("earthenware", (198, 150, 100)), ("stoneware", (140, 120, 104)), ("glass", (150, 190, 190)),
    ("lacquer", (90, 36, 34)), ("boxwood", (190, 140, 84)), ("oak", (150, 106, 66)), ("wood", (150, 104, 68)),
    ("leather", (136, 88, 58)), ("wool", (170, 92, 76)), ("silk", (190, 150, 150)), ("cotton", (214, 200, 180)), ("felt", (90, 70, 88)),
]
FORMS = {**flat.FORMS, **solid.FORMS}
TALL = {"scroll", "figure", "upright", "garment", "clock", "strings", "bell", "lamp", "book"}
WIDE = {"screen", "fan", "cloth", "slab"}


class Palette:
    """The colours of one object, drawn by lot from its id."""

    def __init__(self, lot, medium):
        self.lot = lot
        self.backdrop = lot.choice(BACKDROPS)
        self.ink = lot.choice(INKS)
        self.accent, self.second = lot.sample(ACCENTS, 2)
        self.material = next((colour for word, colour in MATERIALS if word in medium.lower()), lot.choice(ACCENTS))
        self.pose = lot.choice(POSES)
        self.look = Look(lot.choice(FURS), self.ink, lot.choice(EYES), lot.choice(COATS))
        # A cat made of the object's own material, as a statue is.
        self.carved = Look(self.material, mix(self.material, (30, 24, 24), 0.75), mix(self.material, (255, 250, 230), 0.7), lot.choice(COATS))


def draw_object(object_id, form, medium):
    """The picture of one object as JPEG bytes: at most 380 pixels wide, the same for the same arguments."""
    lot = random.Random(f"picture {object_id}")
    palette = Palette(lot, medium)
    width, height = (320, 380) if form in TALL else (380, 300) if form in WIDE else (360, 350)
    pen = Pen.on_new(width, height, palette.backdrop)
    if form in solid.FORMS:
        pen.block(0, 76, 100, 100, mix(palette.backdrop, (20, 20, 26), 0.12))
        pen.oval(14, 80, 86, 96, mix(palette.backdrop, (20, 20, 26), 0.3))
    FORMS[form](pen, palette)
    out = BytesIO()
    pen.finished().save(out, "JPEG", quality=80, optimize=True)
    return out.getvalue()
