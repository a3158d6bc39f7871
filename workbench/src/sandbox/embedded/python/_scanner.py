"""Reads JSON for the module `json`. The interpreter's own scanner ends the process over texts that are none, such as
`Error`, which is what a tool's refusal looks like."""

import _json
import _workbench


def make_scanner(context):
    """Values as the host's answers are read; the library's own Python tells errors, and does what was asked for beside."""
    from json.scanner import py_make_scanner

    slow = py_make_scanner(context)
    plain = context.strict and context.object_hook is None and context.object_pairs_hook is None
    if not (plain and context.parse_float is float and context.parse_int is int):
        return slow

    def scan_once(text, start):
        found = _workbench.scan_json(text, start)
        return slow(text, start) if found is None else found

    return scan_once


def install():
    _json.make_scanner = make_scanner
