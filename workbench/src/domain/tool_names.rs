//! What tools and their arguments may be named: a script calls them as Python functions, a model by the same names.

/// Words that cannot be names in Python.
pub const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Functions and types that a script has without importing them. A tool of such a name would take its place.
const BUILTINS: [&str; 69] = [
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
];

/// Modules that scripts import, and what a task needs of Python beside its tools. `import json` takes the place of a tool
/// `json`, or `from tools import *` that of the module, whichever stands below.
const MODULES: [&str; 32] = [
    "array",
    "asyncio",
    "base64",
    "bisect",
    "calendar",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "html",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "pathlib",
    "random",
    "re",
    "statistics",
    "string",
    "sys",
    "time",
    "typing",
];

/// What `from tools import *` brings along beside the tools.
const OF_TOOLS: [&str; 2] = ["ToolError", "aio"];

/// Longest name that every provider of models takes.
const LONGEST: usize = 64;

/// Why a name cannot be used, to stand behind it, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameFault {
    /// What is true of the name.
    pub reason: String,
    /// What to write instead.
    pub help: String,
}

/// Whether a tool can be named so.
///
/// # Errors
/// When a model or a script could not call it, or would lose something else.
pub fn check_tool(name: &str) -> Result<(), NameFault> {
    word(name)?;
    let taken = match name {
        "run_python" => "is the tool through which code mode runs scripts",
        "tools" => "is the module from which scripts import their tools",
        _ if OF_TOOLS.contains(&name) => "is what the module `tools` has beside the tools",
        _ if MODULES.contains(&name) => {
            "is a module of Python's own, and a script that imports it loses one of the two"
        }
        _ if BUILTINS.contains(&name) => "is a function of Python's own, which scripts would lose",
        _ => return Ok(()),
    };
    Err(NameFault {
        reason: taken.to_owned(),
        help: "say what it does, such as `get_object` or `list_objects`".to_owned(),
    })
}

/// Whether an argument can be named so.
///
/// # Errors
/// When a script could not say it.
pub fn check_argument(name: &str) -> Result<(), NameFault> {
    word(name)?;
    if name == "self" {
        let reason = "is what Python calls the object of a method".to_owned();
        return Err(NameFault { reason, help: "name what it is, such as `object_id`".to_owned() });
    }
    Ok(())
}

fn word(name: &str) -> Result<(), NameFault> {
    let fault = |reason: &str, help: String| Err(NameFault { reason: reason.to_owned(), help });
    if KEYWORDS.contains(&name) {
        return fault("is a word of Python's own, which cannot be a name", format!("write `{name}_` or another name"));
    }
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word {
        let letters = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
        let mended: String =
            letters.collect::<String>().trim_matches(|letter: char| !letter.is_ascii_alphabetic()).into();
        let example = if mended.is_empty() { String::new() } else { format!(", such as `{mended}`") };
        let help = format!("use letters, digits and `_`, and begin with a letter{example}");
        return fault("is no name that Python can call", help);
    }
    if name.len() > LONGEST {
        return fault("is too long for some providers of models", format!("use {LONGEST} letters at most"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_python_and_models_can_call_are_taken() {
        for name in ["get_object", "List2", "type_of", "dict_", "x", &"a".repeat(64)] {
            assert_eq!(check_tool(name), Ok(()), "{name}");
        }
        for name in ["type", "id", "format", "limit"] {
            assert_eq!(check_argument(name), Ok(()), "an argument hides nothing from a script: {name}");
        }
    }

    #[test]
    fn others_are_refused_with_a_way_out() {
        for (name, told) in [
            ("run_python", "is the tool through which code mode runs scripts"),
            ("tools", "is the module from which"),
            ("ToolError", "is what the module `tools` has"),
            ("aio", "is what the module `tools` has"),
            ("asyncio", "is a module of Python's own"),
            ("json", "is a module of Python's own"),
            ("statistics", "is a module of Python's own"),
            ("import", "is a word of Python's own"),
            ("class", "is a word of Python's own"),
            ("print", "is a function of Python's own"),
            ("get-object", "is no name that Python can call"),
            ("_call", "is no name that Python can call"),
            ("2d", "is no name that Python can call"),
            ("größe", "is no name that Python can call"),
            ("", "is no name that Python can call"),
            (&"a".repeat(65), "is too long"),
        ] {
            let fault = check_tool(name).err();
            assert!(fault.is_some_and(|fault| fault.reason.starts_with(told) && !fault.help.is_empty()), "{name}");
        }
        for name in ["self", "from", "a-b", ""] {
            assert!(check_argument(name).is_err(), "{name}");
        }
        assert_eq!(check_tool("get-object").map_err(|fault| fault.help.ends_with("such as `get_object`")), Err(true));
    }
}
