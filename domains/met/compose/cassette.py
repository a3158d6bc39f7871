"""Writes a cassette: `index.jsonl`, one line an answer, and `bodies/`, each body once under its hash."""

import hashlib
import json
import shutil
from pathlib import Path
from urllib.parse import quote, urlencode

EXTENSIONS = {
    "application/json": "json",
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/html": "html",
    "text/plain; charset=utf-8": "txt",
}


class Cassette:
    """Collects answers, then replaces the folder with them."""

    def __init__(self, folder: Path):
        self.folder, self.entries, self.bodies = folder, {}, {}

    def add(self, address, body: bytes, status=200, content_type="application/json", parameters=None):
        """One answer. The key is the address with its parameters sorted, encoded as a URL needs it."""
        scheme, rest = address.split("://")
        url = f"{scheme}://{quote(rest, safe='/,')}"
        if parameters:
            url += "?" + urlencode(sorted((name, str(value)) for name, value in parameters.items()))
        name = f"{hashlib.sha256(body).hexdigest()[:16]}.{EXTENSIONS[content_type]}"
        self.bodies[name] = body
        self.entries[url] = {"url": url, "status": status, "content_type": content_type, "body": name}

    def write(self):
        """Writes everything; what an older cassette held is gone."""
        bodies = self.folder / "bodies"
        shutil.rmtree(bodies, ignore_errors=True)
        bodies.mkdir(parents=True)
        for name, body in self.bodies.items():
            (bodies / name).write_bytes(body)
        lines = (json.dumps(self.entries[url], ensure_ascii=False, separators=(",", ":")) + "\n" for url in sorted(self.entries))
        (self.folder / "index.jsonl").write_text("".join(lines), encoding="utf-8")
