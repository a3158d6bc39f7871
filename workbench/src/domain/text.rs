//! The text of a manifest: finds where a key stands, and turns the parser's errors into problems.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use super::manifest::Manifest;
use crate::nearest::suggestion;

/// A manifest's text with the places of its keys and values.
pub(super) struct Text<'a> {
    text: &'a str,
    table: Spanned<DeValue<'a>>,
}

/// A step into a manifest: a key of a table or a place in a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Parses a manifest; the text must have neither byte order mark nor carriage returns left.
pub(super) fn parse(text: &str) -> Result<(Manifest, Text<'_>), Problem> {
    let table = DeTable::parse(text).map_err(|error| from_parser(text, None, &error))?;
    let span = table.span();
    let text = Text { text, table: Spanned::new(span, DeValue::Table(table.into_inner())) };
    match toml::from_str(text.text) {
        Ok(manifest) => Ok((manifest, text)),
        Err(error) => Err(from_parser(text.text, Some(&text), &error)),
    }
}

impl Text<'_> {
    /// A problem with the value `path` leads to, placed at the last part of it that exists.
    pub(super) fn problem(&self, path: &[Step<'_>], message: &str) -> Problem {
        let mut name = String::new();
        for step in path {
            match step {
                Step::Key(key) if name.is_empty() => name.push_str(key),
                Step::Key(key) => name = format!("{name}.{key}"),
                Step::Index(index) => name = format!("{name}[{}]", index + 1),
            }
        }
        at(self.text, self.span(path), format!("`{name}`: {message}"))
    }

    fn span(&self, path: &[Step<'_>]) -> Range<usize> {
        let mut value = &self.table;
        let mut span = 0..0;
        for step in path {
            let next = match (step, value.get_ref()) {
                (Step::Key(key), DeValue::Table(table)) => {
                    table.iter().find(|(name, _)| name.get_ref() == key).map(|(name, value)| {
                        // A table's own span is its header or braces; its key is the better place.
                        (if value.get_ref().is_table() { name.span() } else { value.span() }, value)
                    })
                }
                (Step::Index(index), DeValue::Array(list)) => list.get(*index).map(|value| (value.span(), value)),
                _ => None,
            };
            let Some((place, inner)) = next else { break };
            span = place;
            value = inner;
        }
        span
    }

    /// The dotted path of the key whose value, or whose name, has this span.
    fn path_of(&self, wanted: &Range<usize>) -> Option<String> {
        path_of(&self.table, wanted).map(|path| path.trim_start_matches('.').to_owned())
    }
}

fn path_of(value: &Spanned<DeValue<'_>>, wanted: &Range<usize>) -> Option<String> {
    match value.get_ref() {
        DeValue::Table(table) => table.iter().find_map(|(name, value)| {
            if value.span() == *wanted || name.span() == *wanted {
                return Some(format!(".{}", name.get_ref()));
            }
            path_of(value, wanted).map(|rest| format!(".{}{rest}", name.get_ref()))
        }),
        DeValue::Array(list) => list.iter().enumerate().find_map(|(index, value)| {
            let number = index + 1;
            if value.span() == *wanted {
                return Some(format!("[{number}]"));
            }
            path_of(value, wanted).map(|rest| format!("[{number}]{rest}"))
        }),
        _ => None,
    }
}

fn at(text: &str, span: Range<usize>, message: String) -> Problem {
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    Problem { span, line, column, message }
}

/// The parser says what it met; this says which key it is about, what was wanted and what was
/// probably meant.
fn from_parser(source: &str, text: Option<&Text<'_>>, error: &toml::de::Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let path = text.and_then(|text| text.path_of(&span));
    let message = error.message().trim();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (first, others) = quoted.split_first().unwrap_or((&"", &[]));
    let known = others.join(", ");
    let suggestion = suggestion(first, others.iter().copied());
    let message = if message.starts_with("unknown field") {
        let section = path.as_deref().and_then(|path| path.rsplit_once('.')).map(|(section, _)| section);
        let place = section.map_or("a manifest".to_owned(), |section| format!("`{section}`"));
        format!("unknown key `{first}` in {place} (known: {known}){suggestion}")
    } else if message.starts_with("unknown variant") {
        format!("{} cannot be `{first}` (known: {known}){suggestion}", subject(path))
    } else if message.starts_with("missing field") {
        match path {
            Some(path) => format!("`{path}` lacks the key `{first}`"),
            None => format!("the table [{first}] is missing"),
        }
    } else if let Some((found, wanted)) = mismatch(message) {
        format!("{} wants {}, but is {found}", subject(path), in_words(wanted))
    } else if message == "duplicate key" {
        format!("the key `{}` stands above already", source.get(span.clone()).unwrap_or_default())
    } else {
        message.replace('\n', "; ")
    };
    at(source, span, message)
}

fn subject(path: Option<String>) -> String {
    path.map_or("this".to_owned(), |path| format!("`{path}`"))
}

fn mismatch(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    rest.split_once(", expected ")
}

/// What serde expects, in words a person who writes TOML knows.
fn in_words(wanted: &str) -> &str {
    match wanted {
        "a string" => "a text in quotes",
        "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        _ => wanted,
    }
}
