import csv, io, random, re, string, statistics, textwrap, time, uuid, hashlib, base64, decimal, fractions, heapq
import calendar, collections, contextlib, copy, dataclasses, datetime, enum, functools, html, itertools, json, logging
import math, operator, pathlib, pprint, queue, struct, sys, tempfile, threading, traceback, types, typing, urllib.parse
import argparse, bisect, difflib, inspect, locale, zlib, zoneinfo, unicodedata, secrets, platform, shutil, glob

random.seed(7)
print(random.randint(1, 100), random.choice("abc"), random.sample(range(10), 3), round(random.random(), 6))
print(datetime.datetime.strptime("2024-03-05 10:11", "%Y-%m-%d %H:%M").strftime("%d %b %Y"), datetime.date(2024, 2, 29))
print(hashlib.sha256(b"x").hexdigest()[:16], base64.b64encode(b"xyz").decode(), uuid.uuid5(uuid.NAMESPACE_URL, "a"))
print(json.dumps({"b": [1, 2.5, None, True], "a": "é"}, sort_keys=True, indent=1))
print(re.sub(r"(\w+)@(\w+)", r"\2 at \1", "me@home"), decimal.Decimal("1.10") + 1, fractions.Fraction(1, 3) * 3)
start = time.monotonic()
time.sleep(0.05)
print(time.monotonic() - start >= 0.05, time.strftime("%Y", time.gmtime(0)))
with contextlib.redirect_stdout(io.StringIO()) as buffer:
    print("hidden")
print(repr(buffer.getvalue()))
sys.stdout.write("written\n")
sys.stdout.buffer.write("bytes é\n".encode())
print("end", flush=True, file=sys.stdout)


@dataclasses.dataclass(order=True)
class Item:
    year: int
    title: str = dataclasses.field(compare=False, default="?")


print(sorted([Item(3), Item(1, "x")]), dataclasses.asdict(Item(2)))
print(urllib.parse.urlencode({"q": "a b"}), html.escape("<a>"), textwrap.shorten("one two three", 9))
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=3)
print(parser.parse_args([]).n)
