# end: Exit(1) | Crashed | OutOfMemory
# seconds: 30
import ast
import json

for make in (
    lambda: compile("(" * 200 + ")" * 200, "deep", "eval"),
    lambda: ast.literal_eval("[" * 3000 + "]" * 3000),
    lambda: json.loads('{"a":' * 20000 + "1" + "}" * 20000),
    lambda: compile("x" + ".x" * 3000, "deep", "eval"),
):
    try:
        make()
    except BaseException as error:
        print(type(error).__name__)
exec("-" * 100000 + "1")
raise RuntimeError("it was survived")
