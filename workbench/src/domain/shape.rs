//! Reads a manifest as its types, and turns what the parser says into problems: all of them, in the words of people
//! who write TOML.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer, Error};

use super::Problem;
use super::excerpt::DRAWN;
use super::manifest::Manifest;
use super::text::Text;
use crate::nearest::question;

/// Problems that are looked for: each costs a look at the whole manifest.
const MOST: usize = DRAWN + 1;

/// Parses a manifest; the text must have neither byte order mark nor carriage returns left.
///
/// The parser stops at the first key or value that does not fit. So that a writer need not mend and try once for each,
/// what does not fit is taken out and the rest is read again; a table of which a part was taken out is not blamed for
/// lacking it.
pub(super) fn parse(text: &str) -> Result<(Manifest, Text<'_>), Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(of_syntax(text, &errors));
    }
    let mut rest = table.clone();
    let mut unfit = Vec::new();
    take_dates_and_lists(rest.get_mut(), "", &mut unfit);
    unfit.truncate(MOST);
    let (mut taken, mut problems): (Vec<String>, Vec<Problem>) = unfit.into_iter().unzip();
    while problems.len() < MOST {
        let error = match Manifest::deserialize(Deserializer::from(rest.clone())) {
            Ok(manifest) if problems.is_empty() => return Ok((manifest, Text::new(text, table))),
            Ok(_) => break,
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        let path = path_of(table.get_ref(), &span);
        let lacks_what_was_taken = missing(&error).is_some_and(|key| {
            let lacking = path.as_ref().map_or(key.to_owned(), |path| format!("{path}.{key}"));
            taken.contains(&lacking)
        });
        if !lacks_what_was_taken {
            problems.push(of_types(text, &error, path.as_deref()));
        }
        taken.extend(path);
        if !take_out(rest.get_mut(), &span) {
            break;
        }
    }
    problems.sort_by_key(|problem| problem.span.start);
    Err(problems)
}

/// What is no TOML. The parser goes on behind an error, and stumbles over what follows from it: one problem a line.
fn of_syntax(text: &str, errors: &[Error]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for error in errors.iter().take(MOST) {
        let span = error.span().unwrap_or(0..0);
        if let Some(last) = problems.last()
            && text.get(last.span.start..span.start).is_none_or(|between| !between.contains('\n'))
        {
            continue;
        }
        let message = match error.message().trim() {
            "duplicate key" => {
                format!("the key `{}` stands above already", text.get(span.clone()).unwrap_or_default().trim())
            }
            message if message.contains("recurs") => "this is nested too deeply".to_owned(),
            message => message.replace('\n', "; "),
        };
        problems.push(Problem::new(span, &message));
    }
    problems
}

/// Paths whose value is a list, and the ends of such paths.
const LISTS: [&str; 4] = ["verify", "tool", "api.hosts", "api.probe"];
const ENDS_OF_LISTS: [&str; 2] = [".one_of", ".default"];

fn takes_list(path: &str) -> bool {
    LISTS.contains(&path) || path.starts_with("tool[") && ENDS_OF_LISTS.iter().any(|end| path.ends_with(end))
}

/// Takes out what the parser would take for something else: a date for a table with a key of its own, a list for a
/// table whose values stand in order.
fn take_dates_and_lists(table: &mut DeTable<'_>, path: &str, found: &mut Vec<(String, Problem)>) {
    let mut unfit = Vec::new();
    for (name, value) in table.iter_mut() {
        let path = if path.is_empty() { name.get_ref().to_string() } else { format!("{path}.{}", name.get_ref()) };
        if !fits(value, &path, takes_list(&path), found) {
            unfit.push(name.get_ref().clone());
        }
    }
    for name in unfit {
        table.remove(name.as_ref());
    }
}

fn fits(value: &mut Spanned<DeValue<'_>>, path: &str, takes_list: bool, found: &mut Vec<(String, Problem)>) -> bool {
    let span = value.span();
    let mut unfit = |what: &str, help: &str| {
        let mut problem = Problem::new(span.clone(), &format!("`{path}` is {what}"));
        problem.help(help);
        found.push((path.to_owned(), problem));
        false
    };
    match value.get_mut() {
        DeValue::Table(table) => take_dates_and_lists(table, path, found),
        DeValue::Array(list) if takes_list => {
            let mut kept = DeArray::new();
            for (index, item) in list.iter_mut().enumerate() {
                if fits(item, &format!("{path}[{}]", index + 1), false, found) {
                    kept.push(item.clone());
                }
            }
            *list = kept;
        }
        DeValue::Array(_) => return unfit("a list, and none is wanted here", "write it without [ ]"),
        DeValue::Datetime(_) => {
            return unfit("a date, and no key takes one", "put it in quotes where a text is meant");
        }
        _ => {}
    }
    true
}

/// A key or value that does not fit the types: which it is, what was wanted, and what was probably meant.
fn of_types(text: &str, error: &Error, path: Option<&str>) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let message = error.message().trim();
    let subject = path.map_or("this".to_owned(), |path| format!("`{path}`"));
    let written = text.get(span.clone()).unwrap_or_default().trim_matches(['"', '\'']);
    let choice = || {
        let known = message.rsplit_once(", expected ").map_or("", |(_, known)| known);
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        let question = question(written, known.iter().copied());
        let known = known.join(", ");
        question.map_or_else(|| format!("known: {known}"), |question| format!("{question} Known: {known}"))
    };
    if message.starts_with("unknown field") {
        let section = path.and_then(|path| path.rsplit_once('.')).map(|(section, _)| section);
        let place = section.map_or("a manifest".to_owned(), |section| format!("`{section}`"));
        let mut problem = Problem::new(span, &format!("unknown key `{written}` in {place}"));
        problem.help(choice());
        return problem;
    }
    if message.starts_with("unknown variant") {
        let mut problem = Problem::new(span, &format!("{subject} cannot be `{written}`"));
        problem.help(choice());
        return problem;
    }
    if let Some(key) = missing(error) {
        return match path {
            Some(path) => Problem::new(span, &format!("`{path}` lacks the key `{key}`")),
            None => {
                let mut problem = Problem::new(span, &format!("the table [{key}] is missing"));
                problem.help("the smallest manifest there can be stands in docs/manifest.md");
                problem
            }
        };
    }
    if message.contains("overflowed") {
        return Problem::new(span, &format!("{subject} is too large"));
    }
    if let Some((found, wanted)) = mismatch(message) {
        if let Some(most) = most(found, wanted) {
            let mut problem = Problem::new(span, &format!("{subject} is too large"));
            problem.help(format!("write {most} at most"));
            return problem;
        }
        let message = format!("{subject} wants {}, but is {}", wanted_in_words(wanted), found_in_words(found));
        return Problem::new(span, &message);
    }
    Problem::new(span, &format!("{subject}: {}", message.replace('\n', "; ")))
}

/// The key that is missing, when that is what the error says.
fn missing(error: &Error) -> Option<&str> {
    error.message().trim().strip_prefix("missing field `")?.strip_suffix('`')
}

fn mismatch(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    rest.rsplit_once(", expected ")
}

/// The largest number that is wanted, when a larger one was found.
fn most(found: &str, wanted: &str) -> Option<u64> {
    let most = match wanted {
        "u32" => u64::from(u32::MAX),
        "u64" | "usize" => u64::MAX,
        _ => return None,
    };
    let digits = found.strip_prefix("integer `")?.split('`').next()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(most)
}

/// What serde expects, in words a person who writes TOML knows.
fn wanted_in_words(wanted: &str) -> &str {
    match wanted {
        "a string" => "a text in quotes",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" | "a JSON number" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list in [ ]",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        _ => wanted,
    }
}

/// What serde found, likewise.
fn found_in_words(found: &str) -> String {
    match found.split_once(' ') {
        None if found == "map" => "a table".to_owned(),
        None if found == "sequence" => "a list".to_owned(),
        Some(("integer", number)) => number.to_owned(),
        Some(("floating", number)) => number.trim_start_matches("point ").to_owned(),
        Some(("boolean", word)) => word.to_owned(),
        Some(("string", text)) => format!("the text {text}"),
        _ => found.to_owned(),
    }
}

/// The dotted path of the key whose value, or whose name, has this span.
fn path_of(table: &DeTable<'_>, wanted: &Range<usize>) -> Option<String> {
    fn of_value(value: &Spanned<DeValue<'_>>, wanted: &Range<usize>) -> Option<String> {
        match value.get_ref() {
            DeValue::Table(table) => of_table(table, wanted),
            DeValue::Array(list) => list.iter().enumerate().find_map(|(index, value)| {
                let number = index + 1;
                if value.span() == *wanted {
                    return Some(format!("[{number}]"));
                }
                of_value(value, wanted).map(|rest| format!("[{number}]{rest}"))
            }),
            _ => None,
        }
    }
    fn of_table(table: &DeTable<'_>, wanted: &Range<usize>) -> Option<String> {
        table.iter().find_map(|(name, value)| {
            // A list of tables has the place of its first one.
            let is_list = value.get_ref().as_array().is_some_and(|list| list.iter().any(|item| item.span() == *wanted));
            if (value.span() == *wanted && !is_list) || name.span() == *wanted {
                return Some(format!(".{}", name.get_ref()));
            }
            of_value(value, wanted).map(|rest| format!(".{}{rest}", name.get_ref()))
        })
    }
    of_table(table, wanted).map(|path| path.trim_start_matches('.').to_owned())
}

/// Takes out the key whose value, or whose name, has this span, or the item of a list.
fn take_out(table: &mut DeTable<'_>, wanted: &Range<usize>) -> bool {
    let is_list =
        |value: &DeValue<'_>| value.as_array().is_some_and(|list| list.iter().any(|item| item.span() == *wanted));
    let found = table
        .iter()
        .find(|(name, value)| name.span() == *wanted || value.span() == *wanted && !is_list(value.get_ref()));
    match found.map(|(name, _)| name.get_ref().clone()) {
        Some(name) => table.remove(name.as_ref()).is_some(),
        None => table.iter_mut().any(|(_, value)| take_out_of(value, wanted)),
    }
}

fn take_out_of(value: &mut Spanned<DeValue<'_>>, wanted: &Range<usize>) -> bool {
    match value.get_mut() {
        DeValue::Table(table) => take_out(table, wanted),
        DeValue::Array(list) => {
            let Some(index) = list.iter().position(|value| value.span() == *wanted) else {
                return list.iter_mut().any(|value| take_out_of(value, wanted));
            };
            let others = list.iter().enumerate().filter(|(other, _)| *other != index);
            *list = others.map(|(_, value)| value.clone()).collect();
            true
        }
        _ => false,
    }
}
