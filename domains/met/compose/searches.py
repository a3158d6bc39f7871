"""Which searches the cassette answers, and what they find."""

import random
import re

from catalogue import DEPARTMENTS, Piece

MAIN = "cat"
MAIN_LIMITS = (5, 10, 12, 15, 20, 25, 30, 40, 50, 60, 100, 150, 200, 300, 500)
# What else a model is likely to ask; some find nothing, which is an answer too.
QUERIES = [
    "cats", "kitten", "kittens", "feline", "felines", "tiger", "tigers", "lion", "lions", "lioness", "leopard", "panther", "jaguar",
    "cat sculpture", "cat statuette", "cat figurine", "cat figure", "cat amulet", "cat painting", "cat print", "cat drawing",
    "cat photograph", "cat textile", "cat ceramic", "cat ceramics", "cat jewelry", "cat bronze", "cat gold", "cat silver", "cat wood",
    "cat ivory", "cat netsuke", "cat vase", "cat bowl", "cat ring", "cat mask", "cat musical instrument", "cat book", "cat poster",
    "cat egyptian", "egyptian cat", "cat and kittens", "cat sleeping", "sleeping cat", "bastet", "animal", "dog", "dinosaur",
]
LIMITS = (5, 10, 20, 50, 100, 200, 500)
DEPARTMENT_QUERIES = ("cat", "cats", "kitten", "lion", "tiger")
DEPARTMENT_LIMITS = (5, 10, 20, 50, 100, 500)


def words(text):
    return re.findall(r"\w+", text.lower())


def texts(piece: Piece):
    """The words a search looks at."""
    maker = piece.maker.name if piece.maker else ""
    return words(" ".join((piece.title, piece.kind, piece.culture, maker, piece.medium, piece.classification, piece.department, *piece.tags)))


def finds(query, piece):
    """Whether every word of the query begins a word of the record. Flags such as `isPublicDomain` narrow nothing, as in the real one."""
    found = texts(piece)
    return all(any(word.startswith(part) for word in found) for part in words(query) if part != "and")


def relevance(query, piece):
    """Higher comes first: words in the title, then well described pieces, then a lot drawn once."""
    title = words(piece.title)
    hits = sum(any(word.startswith(part) for word in title) for part in words(query))
    return hits + ("rich" in piece.flags) * 1.5 + random.Random(f"rank 8 {piece.object_id}").random() * 1.6


def search(pieces, query, department_id=0):
    """Every id the query finds, the most relevant first."""
    found = [piece for piece in pieces if finds(query, piece) and department_id in (0, piece.department_id)]
    return [piece.object_id for piece in sorted(found, key=lambda piece: (-relevance(query, piece), piece.object_id))]


def answers(pieces):
    """Every request the cassette answers: its query parameters and its body as a value."""
    asked = [(MAIN, 0, limit) for limit in MAIN_LIMITS]
    asked += [(query, 0, limit) for query in QUERIES for limit in LIMITS]
    asked += [(query, number, limit) for query in DEPARTMENT_QUERIES for number, *_ in DEPARTMENTS for limit in DEPARTMENT_LIMITS]
    for query, department_id, limit in asked:
        ids = search(pieces, query, department_id)
        last = 1 if limit < 10 else max(1, len(ids))  # so few are asked for to have a look, not to page
        for offset in range(0, last, limit):
            parameters = {"q": query, "offset": offset, "limit": limit, "isPublicDomain": "true", "hasImages": "true"}
            if department_id:
                parameters["departmentId"] = department_id
            yield parameters, {"total": len(ids), "objectIDs": ids[offset:offset + limit] or None}
