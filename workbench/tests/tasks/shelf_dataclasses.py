# Records as dataclasses: ordered, frozen, changed by replacing.
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from tools import *


@dataclass(order=True, frozen=True)
class Piece:
    year: int
    title: str = field(compare=False)
    tags: tuple = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, record):
        return cls(record["objectBeginDate"], record["title"], tuple(tag["term"] for tag in record["tags"] or []))

    @property
    def century(self):
        return (self.year - 1) // 100 + 1


@dataclass
class Shelf:
    name: str
    pieces: list[Piece] = field(default_factory=list)

    def __post_init__(self):
        self.name = self.name.title()

    def __len__(self):
        return len(self.pieces)

    def __iter__(self):
        return iter(sorted(self.pieces, reverse=True))


shelf = Shelf("on the left")
for object_id in (1007, 1002, 1399, 1001):
    shelf.pieces.append(Piece.of(get_object(object_id)))
for piece in shelf:
    print(piece, piece.century, len(piece.tags))
oldest = min(shelf.pieces)
print(shelf.name, len(shelf), replace(oldest, title="A cat, restored"), asdict(oldest))
try:
    oldest.year = 2000
except FrozenInstanceError as error:
    print(type(error).__name__, error)
print(Shelf("x").pieces is Shelf("x").pieces, Piece(1, "a") == Piece(1, "b"))
