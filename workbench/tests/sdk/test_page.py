"""The programs of docs/serve.md run as they stand there, but for the port."""

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

from serving import KEY, PROGRAM, Server

WORKSPACE = Path(__file__).parents[3]
PAGE = (WORKSPACE / "docs/serve.md").read_text()


def printed(program, server):
    program = program.replace("http://127.0.0.1:8787", server.url).replace("sk-on-this-machine", KEY)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(program, "docs/serve.md", "exec"), {})
    return output.getvalue()


class Page(unittest.TestCase):
    def setUp(self):
        self.first, self.second = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    def test_its_first_program_prints_what_it_says(self):
        with Server("order") as server:
            self.assertEqual(printed(self.first, server), "Ten.\n")
        self.assertIn("It prints `Ten.`", PAGE)

    def test_its_second_program_makes_what_the_scripts_of_a_domain_make(self):
        command = '["cargo", "workbench", *words]'
        self.assertIn(command, self.second)
        program = self.second.replace(command, f"[{PROGRAM!r}, *words]")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(WORKSPACE)
        with tempfile.TemporaryDirectory() as results:
            os.environ["WORKBENCH_RESULTS"] = results
            with Server(None, speaker=["dnd-encounter"]) as server:
                # A domain of fewer calls than the page's, since each is a process here.
                answer = printed(program.replace('"met"', '"dnd-encounter"'), server)
            made = [path.name for path in Path(results).rglob("*.html")]
            del os.environ["WORKBENCH_RESULTS"]
        self.assertIn("5 monsters, 9200 XP", answer)
        self.assertEqual(len(made), 1)


if __name__ == "__main__":
    unittest.main()
