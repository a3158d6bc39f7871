"""Makes the tools of a task importable; the same in every sandbox."""

import sys


class ToolError(Exception):
    """A tool refused, or failed in a way it knows; its text says why."""


ToolError.__module__ = "tools"


def given(arguments, optional):
    """The arguments without the optional ones that were left out."""
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


def install(source, domain_module, call, call_later):
    """Makes `tools`, `tools.aio` and `domain_module` importable: functions that return what `call(tool, arguments,
    optional)` returns, and in `tools.aio` coroutines, which `call_later` makes."""
    code = compile(source, "<tools>", "exec")
    module = type(sys)
    for name, make in (("tools", call), ("tools.aio", call_later)):
        made = module(name, "The tools of this task.")
        made._call = make
        made.ToolError = ToolError
        exec(code, made.__dict__)
        sys.modules[name] = made
        sys.modules[name.replace("tools", domain_module, 1)] = made
    tools = sys.modules["tools"]
    tools.__path__ = []
    tools.aio = sys.modules["tools.aio"]
