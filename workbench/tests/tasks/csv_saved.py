# A table as CSV text, saved through the tool, and read back from the text.
import csv
import io
from tools import *

FIELDS = ["id", "title", "date", "medium"]
text = io.StringIO()
writer = csv.DictWriter(text, FIELDS, extrasaction="ignore", lineterminator="\n")
writer.writeheader()
for object_id in range(1004, 1008):
    record = get_object(object_id)
    writer.writerow({"id": object_id, "title": f'"{record["title"]}"', "date": record["objectDate"],
                     "medium": record["medium"], "tags": record["tags"]})
saved = save_file("tables/cats.csv", text.getvalue())
print(saved["path"], saved["bytes"])
print(text.getvalue(), end="")

rows = list(csv.DictReader(io.StringIO(text.getvalue())))
print([row["title"].strip('"') for row in rows], {row["medium"] for row in rows if ";" in row["medium"]})
for row in csv.reader(["ねこ;3", '"a ""b"" c";4'], delimiter=";"):
    print(row)
