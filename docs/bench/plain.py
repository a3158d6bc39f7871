"""The rehearsal of a domain as a plain Python program: what `cargo bench -p workbench` compares whole processes with.

    python3 docs/bench/plain.py loop|code DOMAIN RUN

It plays the same scripts over the same recorded answers and makes the same calls, with the standard library alone: tools
are functions, the cassette is the cache on disk, a script of code mode is a `python3` of its own. It isolates nothing,
counts no tokens, draws no contact sheet and judges nothing. It prints what it did as one line of JSON.
"""

import asyncio
import contextlib
import html
import inspect
import io
import json
import subprocess
import sys
import types
from pathlib import Path
from urllib.parse import urlencode

API = "https://collectionapi.metmuseum.org/public/collection"
SCRIPT_SECONDS = 120
OUTPUT_CHARS = 6000


class ToolError(Exception):
    """A tool refused; its text says why."""


# The tools, as plain functions over a folder of recorded answers and one of files.


class Museum:
    def __init__(self, domain, run):
        self.bodies = domain / "cassette" / "bodies"
        self.out = run / "out"
        self.index = {}
        for line in (domain / "cassette" / "index.jsonl").read_text().splitlines():
            entry = json.loads(line)
            self.index[entry["url"]] = entry

    def get(self, url):
        entry = self.index.get(url)
        if entry is None:
            raise ToolError(f"{url} is not recorded")
        if entry["status"] != 200:
            raise ToolError(f"{url} returned HTTP {entry['status']}")
        return (self.bodies / entry["body"]).read_bytes()

    def list_departments(self):
        listed = json.loads(self.get(f"{API}/v1/departments"))["departments"]
        return [{"department_id": it["departmentId"], "name": it["displayName"]} for it in listed]

    def search_collection(self, query, department_id=0, offset=0, limit=100):
        pairs = {"isPublicDomain": "true", "hasImages": "true", "offset": offset, "limit": limit}
        if department_id:
            pairs["departmentId"] = department_id
        if query:
            pairs["q"] = query
        hits = json.loads(self.get(f"{API}/v1.1/search?{urlencode(sorted(pairs.items()))}"))
        ids, end = hits["objectIDs"] or [], offset + limit
        return {"total": hits["total"], "object_ids": ids, "next_offset": end if ids and end < hits["total"] else None}

    def get_object(self, object_id):
        return json.loads(self.get(f"{API}/v1/objects/{object_id}"))

    def download_image(self, object_id):
        address = self.get_object(object_id)["primaryImageSmall"]
        if not address:
            raise ToolError(f"object {object_id} has no image")
        return self.save(f"{object_id}.jpg", self.get(address)) | {"object_id": object_id}

    def make_contact_sheet(self, name, object_ids):
        pictures = [(self.out / f"{object_id}.jpg").read_bytes() for object_id in object_ids]
        return self.save(f"{name}.jpg", b"".join(pictures)) | {"pieces": len(pictures)}

    def build_gallery(self, name, title, object_ids):
        page = [f"<!doctype html>\n<title>{html.escape(title)}</title>\n<h1>{html.escape(title)}</h1>"]
        for object_id in object_ids:
            record = self.get_object(object_id)
            words = " · ".join(html.escape(record[key]) for key in ("title", "artistDisplayName", "objectDate", "creditLine"))
            page.append(f'<figure><img src="{object_id}.jpg"><figcaption>{words}</figcaption></figure>')
        return self.save(f"{name}.html", "\n".join(page).encode()) | {"pieces": len(object_ids)}

    def save(self, name, content):
        (self.out / name).write_bytes(content)
        return {"file": f"out/{name}", "bytes": len(content)}

    def tools(self):
        names = "list_departments search_collection get_object download_image make_contact_sheet build_gallery"
        return {name: getattr(self, name) for name in names.split()}


class Ledger:
    """A line for each call, written as it ends."""

    def __init__(self, run):
        self.file = open(run / "ledger.jsonl", "a")

    def call(self, tool, function, arguments):
        outcome = "answered"
        try:
            return function(**arguments)
        except ToolError:
            outcome = "tool_error"
            raise
        finally:
            self.file.write(json.dumps({"tool": tool, "arguments": arguments, "outcome": outcome}) + "\n")
            self.file.flush()


def install(plain, later):
    """Makes `tools` and `tools.aio` importable."""
    for name, functions in (("tools", plain), ("tools.aio", later)):
        module = types.ModuleType(name)
        module.__path__ = []
        module.__dict__.update(functions, ToolError=ToolError)
        sys.modules[name] = module


# Mode `loop`: what the policy waits for together is one turn.


class Loop:
    def __init__(self, museum, run):
        self.tools = museum.tools()
        self.ledger = Ledger(run)
        self.transcript = open(run / "transcript.jsonl", "a")
        self.messages = []
        self.asked = []
        self.turns = self.calls = 0

    def say(self, role, content):
        self.messages.append({"role": role, "content": content})
        self.transcript.write(json.dumps(self.messages[-1]) + "\n")
        self.transcript.flush()

    def later(self, name):
        async def call(*args, **kwargs):
            bound = inspect.signature(self.tools[name]).bind(*args, **kwargs)
            future = asyncio.get_running_loop().create_future()
            if not self.asked:
                asyncio.get_running_loop().call_soon(self.turn)
            self.asked.append((name, bound.arguments, future))
            return await future

        return call

    def turn(self):
        asked, self.asked = self.asked, []
        ids = [f"call_{self.calls + place}" for place in range(1, len(asked) + 1)]
        self.turns += 1
        self.calls += len(asked)
        uses = [{"type": "tool_use", "id": id, "name": name, "input": arguments} for id, (name, arguments, _) in zip(ids, asked)]
        self.say("assistant", uses)
        results = []
        for id, (name, arguments, future) in zip(ids, asked):
            try:
                content, is_error = json.dumps(self.ledger.call(name, self.tools[name], arguments)), False
                future.set_result(json.loads(content))
            except ToolError as error:
                content, is_error = f"ERROR: {error}", True
                future.set_exception(error)
            results.append({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
        self.say("user", results)

    def play(self, policy):
        install({}, {name: self.later(name) for name in self.tools})
        self.say("user", [{"type": "text", "text": "The task."}])
        words = io.StringIO()
        with contextlib.redirect_stdout(words):
            exec(compile(policy.read_text(), str(policy), "exec"), {"__name__": "__main__"})
        self.turns += 1
        self.say("assistant", [{"type": "text", "text": words.getvalue()}])
        return {"model_turns": self.turns, "tool_calls": self.calls, "nested_calls": 0}


# Mode `code`: each script is a child, whose functions are the tools themselves.


def run_script(script, domain, run):
    museum, ledger = Museum(domain, run), Ledger(run)
    functions = museum.tools()

    def plain(name):
        def call(*args, **kwargs):
            return ledger.call(name, functions[name], inspect.signature(functions[name]).bind(*args, **kwargs).arguments)

        return call

    def later(name):
        now = plain(name)

        async def call(*args, **kwargs):
            return now(*args, **kwargs)

        return call

    install({name: plain(name) for name in functions}, {name: later(name) for name in functions})
    exec(compile(script.read_text(), "script.py", "exec"), {"__name__": "__main__"})


def play_code(scripts, domain, run):
    (run / "scripts").mkdir()
    with open(run / "transcript.jsonl", "a") as transcript:

        def say(role, content):
            transcript.write(json.dumps({"role": role, "content": content}) + "\n")
            transcript.flush()

        say("user", [{"type": "text", "text": "The task."}])
        for number, script in enumerate(scripts, 1):
            code = script.read_text()
            say("assistant", [{"type": "tool_use", "id": f"call_{number}", "name": "run_python", "input": {"code": code}}])
            copy = run / "scripts" / f"{number:02}.py"
            copy.write_text(code)
            command = [sys.executable, __file__, "script", domain, run, copy]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=SCRIPT_SECONDS)
            code_line = f"EXIT CODE {ended.returncode}\n" if ended.returncode else ""
            output = (code_line + ended.stdout + ended.stderr)[-OUTPUT_CHARS:] or "(no output)"
            copy.with_suffix(".out").write_text(output)
            say("user", [{"type": "tool_result", "tool_use_id": f"call_{number}", "content": output}])
        say("assistant", [{"type": "text", "text": output}])
    nested = len((run / "ledger.jsonl").read_text().splitlines())
    return {"model_turns": len(scripts) + 1, "tool_calls": len(scripts), "nested_calls": nested}


def main(mode, domain, run, script=None):
    domain, run = Path(domain), Path(run)
    if mode == "script":
        run_script(Path(script), domain, run)
        return
    (run / "out").mkdir(parents=True)
    if mode == "loop":
        done = Loop(Museum(domain, run), run).play(domain / "rehearsal" / "loop.py")
    else:
        done = play_code(sorted((domain / "rehearsal" / "code").glob("*.py"), key=lambda path: int(path.stem)), domain, run)
    (run / "run.json").write_text(json.dumps({"mode": mode} | done, indent=2) + "\n")
    print(json.dumps(done))


main(*sys.argv[1:])
