# Labels for the wall, wrapped, shortened and framed.
import textwrap
from tools import *

TEMPLATE = textwrap.dedent("""\
    {title}
      {maker}, {date}
      {medium}
""")


def label(record, width):
    text = f"{record['title']}, made of {record['medium'].lower()} by {record['artistDisplayName'] or 'someone'}. {record['dimensions']}."
    lines = textwrap.wrap(text, width, subsequent_indent="  ")
    rule = "+" + "-" * (width + 2) + "+"
    return "\n".join([rule, *(f"| {line:<{width}} |" for line in lines), rule])


record = get_object(1003)
print(label(record, 28))
print(TEMPLATE.format(title=record["title"].upper(), maker=record["artistDisplayName"], date=record["objectDate"],
                      medium=textwrap.shorten(record["medium"], 10, placeholder="…")), end="")
print(textwrap.indent("first\n\nsecond", "> "))
print("\n".join(f"{word:^12}|{word!r:>12}|{word:*<12}" for word in ("cat", "ねこ", "naïve")))
