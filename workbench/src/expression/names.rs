//! What an expression refers to, checked before there is data: the names, filters, tests and
//! functions it uses, also those that it names as a text, as `map('lower')` does.

use std::collections::BTreeSet;
use std::ops::Range;

use minijinja::machinery::ast::Expr;

use super::{ENVIRONMENT, RuleError, compiled, order, tree};
use crate::nearest::question;

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
    tree::refuse_too_long(expression, true)?;
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
    compiled::compile(expression)?;
    let tree = tree::parse(expression)?;
    for word in tree::parts(&tree).into_iter().flat_map(|part| words(expression, part)) {
        let (kind, candidates) = match word.role {
            Role::Filter => ("filter", FILTERS),
            Role::Test => ("test", TESTS),
            Role::Name if names.contains(&word.text) => ("name", known),
            Role::Name => continue,
        };
        let is_sign = word.role == Role::Test && order::SIGNS.contains(&word.text.as_str());
        if !candidates.contains(&word.text.as_str()) && !is_sign {
            let error = RuleError::new(expression, format!("unknown {kind} `{}`", word.text), Some(word.range));
            return Err(RuleError { help: question(&word.text, candidates.iter().copied()), ..error });
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
    tree::refuse_too_long(expression, true)?;
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

struct Word {
    text: String,
    range: Range<usize>,
    role: Role,
}

/// The words that a part of an expression adds to those of its own parts.
fn words(expression: &str, part: &Expr<'_>) -> Vec<Word> {
    let span = part.span();
    let (start, end) = (span.start_offset as usize, span.end_offset as usize);
    let written = |text: &str, role| {
        // The place of a filter begins with its name, that of a test may have what is tested before it.
        let before = expression.get(start..end).and_then(|part| part.find(text)).unwrap_or_default();
        let start = start + before;
        Word { text: text.to_owned(), range: start..start + text.len(), role }
    };
    let quoted = |arguments, place, role| {
        let (text, argument) = tree::text_argument(arguments, place)?;
        let span = argument.span();
        Some(Word { text, range: span.start_offset as usize..span.end_offset as usize, role })
    };
    match part {
        Expr::Var(variable) => vec![written(variable.id, Role::Name)],
        Expr::Test(test) => vec![written(test.name, Role::Test)],
        Expr::Filter(filter) => {
            let named = match filter.name {
                "map" => quoted(&filter.args, 0, Role::Filter),
                "select" | "reject" => quoted(&filter.args, 0, Role::Test),
                "selectattr" | "rejectattr" => quoted(&filter.args, 1, Role::Test),
                _ => None,
            };
            std::iter::once(written(filter.name, Role::Filter)).chain(named).collect()
        }
        _ => Vec::new(),
    }
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
            (
                "objects|map('lenght')",
                Err("unknown filter `lenght`; did you mean `length`? (`'lenght'` at character 13)"),
            ),
            ("ids|select('evn')", Err("unknown test `evn`; did you mean `even`? (`'evn'` at character 12)")),
            ("ids | reject(\"evn\")", Err("unknown test `evn`; did you mean `even`? (`\"evn\"` at character 14)")),
            (
                "[objects|rejectattr('n', 'gr', 3)]",
                Err("unknown test `gr`; did you mean `greaterthan`? (`'gr'` at character 26)"),
            ),
            (
                "objects|selectattr('even', '>=', 3)|selectattr('odd', 'is')",
                Err("unknown test `is`; did you mean `divisibleby`? (`'is'` at character 55)"),
            ),
            ("objects|map(attribute='lenght')|map('default', 'lenght')", Ok("objects")),
            (
                "ids is ge(3) and ids is lower and ids|length is not nosuch",
                Err("unknown test `nosuch` (`nosuch` at character 53)"),
            ),
            ("ids if objects else pge", Err("unknown name `pge`; did you mean `page`? (`pge` at character 21)")),
            ("[{'a': pge}, ids[objects:pge]]", Err("unknown name `pge`; did you mean `page`? (`pge` at character 8)")),
            ("all(ids, x=pge)", Err("unknown name `pge`; did you mean `page`? (`pge` at character 12)")),
            ("ids|length = 3", Err("unexpected input after expression; did you mean `==`? (`=` at character 12)")),
            (
                "(ids|length = 3) and page",
                Err("unexpected `=`, expected `)`; did you mean `==`? (`=` at character 13)"),
            ),
            ("all(ids|first = 3)", Err("unexpected `=`, expected `,`; did you mean `==`? (`=` at character 15)")),
            ("'few' >= 500", Err("`>=` wants two numbers or two texts, but would get a text and a number")),
            (
                "1 < ids|length < 'few'",
                Err(
                    "`<` wants two numbers or two texts, but would get a number and a text (`ids|length < 'few'` at character 5)",
                ),
            ),
            (
                "1 < 2 < none",
                Err(
                    "`<` wants two numbers or two texts, but would get a number and `none` (`2 < none` at character 5)",
                ),
            ),
            (
                "page and page.n > none",
                Err(
                    "`>` wants two numbers or two texts, but would get something and `none` (`page.n > none` at character 10)",
                ),
            ),
            (
                "'ids|length' >= 12 or page",
                Err(
                    "`>=` wants two numbers or two texts, but would get a text and a number (`'ids|length' >= 12` at character 1)",
                ),
            ),
            ("ids ==", Err("unexpected end of input, expected expression (`==` at character 5)")),
        ];
        let mut wrong = Vec::new();
        for (expression, expected) in cases {
            let found = match check(expression, &known) {
                Ok(names) => names.into_iter().collect::<Vec<_>>().join(","),
                Err(error) => error.short(),
            };
            if expected.unwrap_or_else(|text| text) != found {
                wrong.push(format!("{expression}: {found}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
