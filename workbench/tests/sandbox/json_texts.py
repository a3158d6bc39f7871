# What is no JSON is an error that a script can catch, whatever stands there; and what is, is read exactly.
import json

BAD = [
    "", " ", "Error: no", "ERROR: unknown tool", "e", "E5", ".", ".5", "+1", "-", "--1", "1.", "01", "1e", "1e+", "-e", "1.e5",
    "[1,", "[e]", '{"a": .}', '{"a" 1}', "{a: 1}", "[1 2]", '"open', "nul", "tru", "1 2", "[1]]", "\x00", "猫",
]
for text in BAD:
    try:
        print(repr(text), "is", json.loads(text))
    except json.JSONDecodeError as error:
        print(repr(text), "->", error)

GOOD = [
    " [1, 2.50, -0, -0.0, 1e3, 1E-2, 123456789012345678901234567890] ", '"\\ud83d\\ude00 \\ud800 \\u00e9 é 猫"', "null", "true",
    '{"a": {"a": [], "b": {}}, "a": 2}', "NaN", "[Infinity, -Infinity]", "1e999", '"\\/"',
]
for text in GOOD:
    print(ascii(json.loads(text)))
print(json.loads('{"a": 1.10, "b": 2}', parse_float=str, parse_int=lambda text: text + "!"))
print(json.loads('{"a": {"b": 1}}', object_pairs_hook=list), json.loads('"a\nb"', strict=False) == "a\nb")
print(json.JSONDecoder().raw_decode("猫 [1] rest", 2), json.loads(b'[1]'), json.loads("[" * 400 + "]" * 400)[0] != [])
