"""The program of docs/serve.md runs as it stands there, but for the port."""

import contextlib
import io
import re
import unittest
from pathlib import Path

from serving import KEY, Server


class Page(unittest.TestCase):
    def test_its_program_prints_what_it_says(self):
        page = (Path(__file__).parents[3] / "docs/serve.md").read_text()
        (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        with Server("order") as server:
            program = program.replace("http://127.0.0.1:8787", server.url).replace("sk-on-this-machine", KEY)
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(program, "docs/serve.md", "exec"), {})
        self.assertEqual(printed.getvalue(), "Ten.\n")
        self.assertIn("It prints `Ten.`", page)


if __name__ == "__main__":
    unittest.main()
