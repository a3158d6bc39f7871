//! The text of a manifest: finds where a key or value stands.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// A manifest's text with the places of its keys and values.
pub(super) struct Text<'a> {
    source: &'a str,
    table: Spanned<DeValue<'a>>,
}

/// A step into a manifest: a key of a table or a place in a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Text<'a> {
    /// The text `source`, which was parsed as `table`.
    pub(super) fn new(source: &'a str, table: Spanned<DeTable<'a>>) -> Self {
        let span = table.span();
        Self { source, table: Spanned::new(span, DeValue::Table(table.into_inner())) }
    }

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
        Problem::new(self.span(path).0, &format!("`{name}`: {message}"))
    }

    /// Where the bytes `part` of the text at `path` stand, when that text stands in the file as it is: with escapes
    /// in it, or lines that are joined, it cannot be said.
    pub(super) fn part(&self, path: &[Step<'_>], part: Range<usize>) -> Option<Range<usize>> {
        let (span, value) = self.span(path);
        let value = value?.as_str()?;
        let written = self.source.get(span.clone())?;
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| written.starts_with(quotes))?;
        let inner = written.strip_prefix(quotes)?.strip_suffix(quotes)?;
        // The line feed behind opening quotes of three is not part of the text.
        let text = if quotes.len() == 3 { inner.strip_prefix('\n').unwrap_or(inner) } else { inner };
        let start = span.start + quotes.len() + (inner.len() - text.len());
        (text == value && text.get(part.clone()).is_some()).then(|| start + part.start..start + part.end)
    }

    /// Where the last part of `path` that exists stands, and the value there when that is all of it.
    fn span(&self, path: &[Step<'_>]) -> (Range<usize>, Option<&DeValue<'a>>) {
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
            let Some((place, inner)) = next else { return (span, None) };
            span = place;
            value = inner;
        }
        (span, Some(value.get_ref()))
    }
}
