# probe: a tool that is not named
# expected: refused: ToolError
import tools

# What the functions of `tools` go through, with a name of its own.
attempt(lambda: tools._call("delete_everything", {}))
