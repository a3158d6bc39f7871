# Rows that arrive as text: decoded, dated, averaged.
import json
import statistics
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from tools import *

text = query_database("SELECT * FROM scores ORDER BY id")
rows = json.loads(text, parse_float=Decimal)
print(type(text).__name__, len(rows), rows[0])
scores = [row["score"] for row in rows if row["score"] is not None]
print(sum(scores), statistics.mean(scores), max(scores) - min(scores), Fraction(scores[1]))
days = sorted((datetime.fromisoformat(row["created"]), row["name"]) for row in rows)
for (earlier, name), (later, other) in zip(days, days[1:]):
    print(f"{name} to {other}: {(later - earlier).days} days, {earlier:%a %d %b %Y}")
moment = days[-1][0].replace(tzinfo=timezone(timedelta(hours=2)))
print(moment.isoformat(), moment.astimezone(timezone.utc).strftime("%H:%M"), moment.isocalendar().week)
years = [get_object(object_id)["objectBeginDate"] for object_id in range(1001, 1012)]
print(statistics.median(years), round(statistics.stdev(years), 3), statistics.quantiles(years, n=4))
print(json.dumps({"naïve": [1.0, None, True], "b": {"c": "\t"}}, indent=1, ensure_ascii=False, sort_keys=True))
