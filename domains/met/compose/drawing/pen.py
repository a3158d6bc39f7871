"""A pen over a Pillow image: coordinates from 0 to 100 inside any box, drawn large and scaled down."""

from PIL import Image, ImageDraw

SCALE = 3  # everything is drawn this much larger, then reduced: smooth edges without effort


def mix(first, second, share):
    """A colour between two: `share` 0 is the first, 1 the second."""
    return tuple(round(a + (b - a) * share) for a, b in zip(first, second))


class Pen:
    """Draws in a box of the image; `x` and `y` run from 0 to 100 inside it."""

    def __init__(self, image, box):
        self.image, self.box = image, box
        self.draw = ImageDraw.Draw(image)

    @classmethod
    def on_new(cls, width, height, colour):
        """A pen over a whole new image."""
        image = Image.new("RGB", (width * SCALE, height * SCALE), colour)
        return cls(image, (0, 0, width * SCALE, height * SCALE))

    def inside(self, left, top, right, bottom):
        """A pen for a smaller box, given in this box's coordinates."""
        return Pen(self.image, (*self.at(left, top), *self.at(right, bottom)))

    def square(self, middle, top, side):
        """A pen for a true square: its middle, its top, and its side in percent of this box's width."""
        left, right = self.at(middle - side / 2, top)[0], self.at(middle + side / 2, top)[0]
        upper = self.at(middle, top)[1]
        return Pen(self.image, (left, upper, right, upper + right - left))

    def at(self, x, y):
        left, top, right, bottom = self.box
        return left + (right - left) * x / 100, top + (bottom - top) * y / 100

    def width(self, share):
        return max(1, round((self.box[2] - self.box[0]) * share / 100))

    def shape(self, points, fill):
        self.draw.polygon([self.at(x, y) for x, y in points], fill=fill)

    def oval(self, left, top, right, bottom, fill=None, line=None, width=1.0):
        self.draw.ellipse([*self.at(left, top), *self.at(right, bottom)], fill, line, self.width(width))

    def block(self, left, top, right, bottom, fill=None, line=None, width=1.0, corner=0):
        radius = self.width(corner) if corner else 0
        self.draw.rounded_rectangle([*self.at(left, top), *self.at(right, bottom)], radius, fill, line, self.width(width))

    def curve(self, left, top, right, bottom, start, end, line, width=1.5):
        self.draw.arc([*self.at(left, top), *self.at(right, bottom)], start, end, line, self.width(width))

    def stroke(self, points, line, width=1.5):
        self.draw.line([self.at(x, y) for x, y in points], line, self.width(width), joint="curve")
        radius = self.width(width) / 2
        for x, y in (self.at(*points[0]), self.at(*points[-1])):
            self.draw.ellipse([x - radius, y - radius, x + radius, y + radius], line)

    def finished(self):
        """The image in its real size."""
        width, height = self.image.size
        return self.image.resize((width // SCALE, height // SCALE), Image.Resampling.LANCZOS)
