"""A piece as the API would tell it: 57 fields, in the API's order, with the API's habits."""

import json
import random

from catalogue import Piece

IMAGES = "https://images.metmuseum.org/CRDImages"
# Places where finds and workshops are said to be, by the word that ends a culture.
PLACES = {
    "American": ("Made in", "Tabby Falls", "", "United States", "New England"),
    "Riverland": ("From", "Reedbank", "", "Riverland", "Upper Riverland"),
    "Lowland": ("From", "Saltmarsh", "", "Lowland", "Delta"),
    "Aegean": ("From", "Whisker Bay", "", "Aegean islands", ""),
    "Peninsular": ("From", "Sevenhills", "", "Peninsula", ""),
    "Plateau": ("Attributed to", "Turquoise Gate", "", "Plateau", ""),
    "Coastal": ("Country of Origin", "", "", "Dry Coast", "North Coast"),
    "Savanna": ("Country of Origin", "", "", "Tall Grass", ""),
    "Island": ("Country of Origin", "", "", "Long Reef", ""),
}
FUNDS = ["Made-up Catalogue Fund", "Bequest of a Made-up Collector", "Gift of the Made-up Friends of Cats", "Made-up Purchase Fund"]


def wikidata(lot):
    """An address with a number far above every real entry."""
    return f"https://www.wikidata.org/wiki/Q{lot.randint(9_000_000_000, 9_099_999_999)}"


def vocabulary(lot, name):
    """The same for the vocabularies of artists (`ulan`) and terms (`aat`)."""
    return f"http://vocab.getty.edu/page/{name}/{lot.randint(900_000_000, 900_999_999)}"


def century(year):
    n = (abs(year) + 99) // 100
    return f"{n}{'th' if 10 <= n % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')} century"


def date_text(first, last):
    """Years as a museum writes them."""
    if first < 0:
        return f"ca. {-first}–{-last} BCE" if last < 0 else f"{century(first)} BCE–{century(last)} CE"
    if first % 100 == 0 and last - first in (99, 100):
        return century(last - 1)
    if first == last:
        return str(first)
    short = str(last)[-2:] if first >= 1000 and first // 100 == last // 100 else last
    return f"ca. {first}–{short}"


def inches(centimetres):
    """Centimetres as inches with quarters."""
    quarters = max(1, round(centimetres / 2.54 * 4))
    fraction = {0: "", 1: "1/4", 2: "1/2", 3: "3/4"}[quarters % 4]
    return " ".join(part for part in (str(quarters // 4) if quarters >= 4 else "", fraction) if part)


def extents(lot, piece: Piece):
    """The text of `dimensions`, and `measurements` that say the same."""
    big = piece.form in {"picture", "cloth", "screen", "garment", "seat", "slab"}
    height, width, depth = (round(lot.uniform(low, high), 1) for low, high in ([(30, 160), (30, 190), (3, 60)] if big else [(3, 40), (3, 30), (2, 20)]))
    flat = piece.form in {"picture", "sheet", "cloth", "screen", "scroll", "book", "fan"}
    if flat:
        text = f"{inches(height)} x {inches(width)} in. ({height} x {width} cm)"
        measures = [("Overall", {"Height": height, "Width": width})]
    else:
        text = f"H. {inches(height)} in. ({height} cm); W. {inches(width)} in. ({width} cm); D. {inches(depth)} in. ({depth} cm)"
        measures = [("Overall", {"Depth": depth, "Height": height, "Width": width})]
    if "rich" in piece.flags or lot.random() < 0.3:
        outer = [round(value + lot.uniform(4, 16), 1) for value in (height, width)]
        part = "Framed" if flat else "With base"
        text += f"\r\n{part}: {inches(outer[0])} x {inches(outer[1])} in. ({outer[0]} x {outer[1]} cm)"
        measures.insert(0, (part, {"Height": outer[0] + 0.0003, "Width": outer[1]}))
    if not flat and lot.random() < 0.4:
        text += f"\r\nWt. {round(height * width / 60, 1)} lb. ({round(height * width / 132, 2)} kg)"
        measures.append(("Weight", {"Weight": round(height * width / 132, 2)}))
    return text, [
        {"elementName": name, "elementDescription": None, "elementMeasurements": values} for name, values in measures
    ]


def constituent(lot, number, name, role, rich):
    return {
        "constituentID": number, "role": role, "name": name,
        "constituentULAN_URL": vocabulary(lot, "ulan") if rich else "(not assigned)",
        "constituentWikidata_URL": wikidata(lot) if rich else "", "gender": "",
    }


def image_name(lot, piece):
    name = f"MU{piece.object_id - 9_000_000:04d}_{lot.randint(1, 9)}"
    return f"{name} a, b.jpg" if "spaces" in piece.flags else f"{name}.jpg"


def tag(lot, term):
    known = lot.random() > 0.06
    return {"term": term, "AAT_URL": vocabulary(lot, "aat") if known else None, "Wikidata_URL": wikidata(lot) if known else None}


def record(piece: Piece):
    """All 57 fields. The same for the same line of the catalogue."""
    lot = random.Random(f"record {piece.object_id}")
    rich, poor, maker = "rich" in piece.flags, "poor" in piece.flags, piece.maker
    bought = lot.randint(1880, 2019)
    image = image_name(lot, piece)
    views = lot.randint(8, 18) if rich else lot.choice((0, 0, 1, 2, 3))
    kind_of_place, city, state, country, region = PLACES.get(piece.culture.split()[-1] if piece.culture else "", ("",) * 5)
    ancient = piece.last < 500
    dimensions, measurements = extents(lot, piece)
    people = [constituent(lot, maker.number, maker.name, maker.role, rich)] if maker else []
    if rich and maker:
        people.append(constituent(lot, maker.number + 1, f"Apprentices of the {maker.name.removeprefix('The ')}", "Assistant", lot.random() < 0.7))
    return {
        "objectID": piece.object_id,
        "isHighlight": rich and lot.random() < 0.3,
        "accessionNumber": f"{bought}.{lot.randint(1, 400)}.{lot.randint(1, 40)}",
        "accessionYear": str(bought),
        "isPublicDomain": piece.public,
        "primaryImage": f"{IMAGES}/{piece.folder}/original/{image}" if piece.pictured else "",
        "primaryImageSmall": f"{IMAGES}/{piece.folder}/web-large/{image}" if piece.pictured else "",
        "additionalImages": [f"{IMAGES}/{piece.folder}/original/{image[:-4]}-v{n}.jpg" for n in range(2, 2 + views)] if piece.pictured else [],
        "constituents": people or None if not poor else None,
        "department": piece.department,
        "objectName": "" if "no name" in piece.flags else piece.kind,
        "title": piece.title,
        "culture": piece.culture,
        "period": lot.choice(("Middle Striped Period", "Late Tabby Period", "First Napping Period")) if ancient else "",
        "dynasty": f"Dynasty of the {lot.choice(('Sickle', 'Basket', 'Reed'))}" if piece.culture.endswith("Riverland") else "",
        "reign": f"reign of the {lot.choice(('Third', 'Fifth', 'Ninth'))} Granary Keeper" if piece.culture.endswith("Riverland") and rich else "",
        "portfolio": "Nine Sheets for Nine Lives" if piece.form == "sheet" and rich else "",
        "artistRole": maker.role if maker else "",
        "artistPrefix": "Attributed to" if maker and lot.random() < 0.15 else "",
        "artistDisplayName": maker.name if maker else "",
        "artistDisplayBio": ", ".join(filter(None, (maker.nationality, maker.bio))) if maker else "",
        "artistSuffix": "",
        "artistAlphaSort": maker.name.removeprefix("The ") if maker else "",
        "artistNationality": maker.nationality if maker else "",
        "artistBeginDate": str(maker.first) if maker else "",
        "artistEndDate": str(maker.last) if maker else "",
        "artistGender": "",
        "artistWikidata_URL": people[0]["constituentWikidata_URL"] if people else "",
        "artistULAN_URL": people[0]["constituentULAN_URL"] if people and rich else "",
        "objectDate": date_text(piece.first, piece.last),
        "objectBeginDate": piece.first,
        "objectEndDate": piece.last,
        "medium": piece.medium,
        "dimensions": dimensions,
        "measurements": None if poor else measurements,
        "creditLine": f"{lot.choice(FUNDS)}, {bought}",
        "geographyType": kind_of_place,
        "city": city, "state": state, "county": "", "country": country, "region": region, "subregion": "",
        "locale": "House of the Sleeping Baker" if ancient and rich else "",
        "locus": "Courtyard, below the oven" if ancient and rich else "",
        "excavation": "Made-up Field Season" if ancient else "",
        "river": "",
        "classification": piece.classification,
        "rightsAndReproduction": "" if piece.public else "© a made-up rights holder",
        "linkResource": "",
        "metadataDate": f"2026-{lot.randint(1, 9):02d}-{lot.randint(10, 28)}T04:{lot.randint(10, 59)}:{lot.randint(10, 59)}.{lot.randint(1, 999)}Z",
        "repository": "Metropolitan Museum of Art, New York, NY",
        "objectURL": f"https://www.metmuseum.org/art/collection/search/{piece.object_id}",
        "tags": None if poor else [tag(lot, term) for term in piece.tags],
        "objectWikidata_URL": wikidata(lot) if rich or lot.random() < 0.5 else "",
        "isTimelineWork": rich and lot.random() < 0.5,
        "GalleryNumber": str(lot.randint(900, 999)) if lot.random() < 0.7 else "",
    }


def as_body(value):
    """JSON as the API sends it: compact, not escaped, with a final line feed."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
