# The forms a date has, told apart by patterns.
import re
from tools import *


def span(text):
    match re.split(r"[-\s]", text):
        case ["ca.", year]:
            return int(year) - 5, int(year) + 5
        case [first, last] if first.isdigit() and last.isdigit():
            return int(first), int(last)
        case [ordinal, "century"] if (found := re.match(r"\d+", ordinal)):
            return (int(found[0]) - 1) * 100 + 1, int(found[0]) * 100
        case [year]:
            return int(year), int(year)
        case other:
            raise ValueError(f"{other} is no date")


def kind(record):
    match record:
        case {"tags": [{"term": first}, *rest], "isPublicDomain": False}:
            return f"closed, {first} and {len(rest)} more"
        case {"tags": None, "artistDisplayName": "" | "Unknown" as name}:
            return f"open, by {name or 'nobody'}"
        case _:
            return "something else"


for object_id in range(1000, 1004):
    record = get_object(object_id)
    first, last = span(record["objectDate"])
    print(f"{record['objectDate']:<13} {first}..{last} ({last - first + 1:>3}) {kind(record)}")
try:
    span("long ago, it seems")
except ValueError as error:
    print(error)
