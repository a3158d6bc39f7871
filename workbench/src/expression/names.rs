//! What an expression refers to, checked before there is data: the names, filters, tests and
//! functions it uses.

use std::collections::BTreeSet;

use crate::nearest::question;

use super::{ENVIRONMENT, RuleError};

/// Filters a rule can use; minijinja itself tells of an unknown one only when it is reached.
pub(super) const FILTERS: &[&str] = &[
    "abs",
    "all",
    "any",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "matches",
    "max",
    "min",
    "only",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

/// Tests a rule can use after `is`.
pub(super) const TESTS: &[&str] = &[
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "matches",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

/// Whether evidence cannot have this name, since expressions use it for something else.
pub fn is_reserved(name: &str) -> bool {
    const WORDS: &[&str] =
        &["item", "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"];
    WORDS.contains(&name) || ENVIRONMENT.globals().any(|(global, _)| global == name)
}

/// The names `expression` reads, whether there is such evidence or not.
///
/// # Errors
/// When it is no expression.
pub fn reads(expression: &str) -> Result<BTreeSet<String>, RuleError> {
    let compiled =
        ENVIRONMENT.compile_expression(expression).map_err(|error| RuleError::from_engine(expression, &error))?;
    let mut names: BTreeSet<String> = compiled.undeclared_variables(false).into_iter().collect();
    names.retain(|name| ENVIRONMENT.globals().all(|(global, _)| global != name));
    Ok(names)
}

/// Checks `expression` without data and returns the names it reads, a subset of `known`.
///
/// # Errors
/// When it is no expression, or uses a name, filter or test that does not exist.
pub fn check(expression: &str, known: &[&str]) -> Result<BTreeSet<String>, RuleError> {
    let names = reads(expression)?;
    for word in words(expression) {
        let (kind, candidates) = match word.role {
            Role::Filter => ("filter", FILTERS),
            Role::Test => ("test", TESTS),
            Role::Name if names.contains(word.text) => ("name", known),
            Role::Name => continue,
        };
        if !candidates.contains(&word.text) {
            let range = word.start..word.start + word.text.len();
            let error = RuleError::new(expression, format!("unknown {kind} `{}`", word.text), Some(range));
            return Err(RuleError { help: question(word.text, candidates.iter().copied()), ..error });
        }
    }
    Ok(names)
}

/// The attributes of `name` that `expression` reads, such as `limit` where it says `arguments.limit`; nothing when it
/// reads `name` as a whole, and with it all of them.
///
/// # Errors
/// When it is no expression.
pub fn attributes(expression: &str, name: &str) -> Result<Option<BTreeSet<String>>, RuleError> {
    let compiled =
        ENVIRONMENT.compile_expression(expression).map_err(|error| RuleError::from_engine(expression, &error))?;
    let paths = compiled.undeclared_variables(true);
    if paths.contains(name) {
        return Ok(None);
    }
    let inside = paths.iter().filter_map(|path| path.strip_prefix(name)?.strip_prefix('.'));
    Ok(Some(inside.map(|path| path.split('.').next().unwrap_or_default().to_owned()).collect()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Filter,
    Test,
    Name,
}

struct Word<'a> {
    text: &'a str,
    start: usize,
    role: Role,
}

/// The words of an expression that compiles, texts and attributes left out.
fn words(expression: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut role = Role::Name;
    let mut rest = expression.char_indices().peekable();
    while let Some((start, character)) = rest.next() {
        match character {
            '"' | '\'' => {
                while let Some((_, inner)) = rest.next() {
                    if inner == '\\' {
                        rest.next();
                    } else if inner == character {
                        break;
                    }
                }
                role = Role::Name;
            }
            '|' => role = Role::Filter,
            _ if character.is_whitespace() => {}
            _ if character == '_' || character.is_alphabetic() => {
                let mut end = start + character.len_utf8();
                while let Some((at, next)) = rest.next_if(|(_, next)| *next == '_' || next.is_alphanumeric()) {
                    end = at + next.len_utf8();
                }
                let text = &expression[start..end];
                match text {
                    "is" => role = Role::Test,
                    "not" if role == Role::Test => {}
                    _ => {
                        if !expression[..start].trim_end().ends_with('.') {
                            words.push(Word { text, start, role });
                        }
                        role = Role::Name;
                    }
                }
            }
            _ => role = Role::Name,
        }
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use minijinja::ErrorKind;

    use super::*;

    #[test]
    fn every_listed_filter_and_test_exists() {
        for (list, expression) in [(FILTERS, "1|"), (TESTS, "1 is ")] {
            for name in list {
                let expression = format!("{expression}{name}");
                let outcome = ENVIRONMENT.compile_expression(&expression).unwrap().eval(());
                let unknown = matches!(
                    outcome.map_err(|error| error.kind()),
                    Err(ErrorKind::UnknownFilter | ErrorKind::UnknownTest)
                );
                assert!(!unknown, "{expression}");
            }
        }
    }

    #[test]
    fn names_are_read_and_misspelt_ones_refused() {
        let known = ["ids", "objects", "page"];
        let cases = [
            ("ids|length == 12", Ok("ids")),
            ("'nosuch|x' in page.text and all(objects|map(attribute='ids'))", Ok("objects,page")),
            ("ids|sum in range(3) and page is not none", Ok("ids,page")),
            ("page.nosuch.ids == 1.5", Ok("page")),
            ("ids | lenght == 12", Err("unknown filter `lenght`; did you mean `length`? (`lenght` at character 7)")),
            ("ids is evn", Err("unknown test `evn`; did you mean `even`? (`evn` at character 8)")),
            ("ids is not evn", Err("unknown test `evn`; did you mean `even`? (`evn` at character 12)")),
            ("objcts|length > 1", Err("unknown name `objcts`; did you mean `objects`? (`objcts` at character 1)")),
            ("nosuch(ids)", Err("unknown name `nosuch` (`nosuch` at character 1)")),
            ("ids ==", Err("unexpected end of input, expected expression (`==` at character 5)")),
        ];
        for (expression, expected) in cases {
            let found = check(expression, &known);
            match expected {
                Ok(names) => {
                    let found = found.unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(found.into_iter().collect::<Vec<_>>().join(","), names, "{expression}");
                }
                Err(text) => assert_eq!(found.unwrap_err().short(), text, "{expression}"),
            }
        }
    }
}
