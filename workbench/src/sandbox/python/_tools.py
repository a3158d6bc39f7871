"""Makes the tools of a task importable; the same in every sandbox."""

import sys


class ToolError(Exception):
    """A tool refused, or failed in a way it knows; its text says why."""


ToolError.__module__ = "tools"


def given(arguments, optional):
    """The arguments without the optional ones that were left out."""
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


# Where a script finds the tools.
advice = "call the functions of `tools`"


def place(source, call_later, namespace):
    """Puts coroutine functions among a script's own names, as a provider's sandbox does: there is no module of them."""
    global advice
    made = type(sys)("<tools>")
    made._call = call_later
    made.ToolError = ToolError
    exec(compile(source, "<tools>", "exec"), made.__dict__)
    for name in made.__all__:
        namespace[name] = getattr(made, name)
    example = f", such as `await {made.__all__[0]}({{...}})`" if made.__all__ else ""
    advice = f"the tools are coroutine functions that are there without an import{example}"


def library():
    """What there is to be imported, in words."""
    return "Python's standard library and `tools`" if "tools" in sys.modules else "Python's standard library"


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
