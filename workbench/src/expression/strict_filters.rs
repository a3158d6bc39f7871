//! Filters that look for the attribute they are given before they work, and the words that
//! minijinja lacks: `all`, `any`, `matches`.

use std::sync::Mutex;

use minijinja::filters;
use minijinja::value::{Kwargs, Rest, StringInput, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use regex::{Regex, RegexBuilder};

use super::{order, texts};

/// Bytes a compiled pattern may take; matching itself is linear in the text.
const PATTERN_BYTES: usize = 1 << 20;

pub(super) fn install(environment: &mut Environment<'_>) {
    environment.add_filter("map", map);
    environment.add_filter("selectattr", selectattr);
    environment.add_filter("rejectattr", rejectattr);
    environment.add_filter("groupby", groupby);
    environment.add_filter("sort", sort);
    environment.add_filter("dictsort", dictsort);
    environment.add_filter("unique", unique);
    environment.add_filter("min", min);
    environment.add_filter("max", max);
    environment.add_filter("first", first);
    environment.add_filter("last", last);
    environment.add_filter("attr", attr);
    environment.add_filter("only", only);
    environment.add_filter("all", all);
    environment.add_filter("any", any);
    environment.add_function("all", all);
    environment.add_function("any", any);
    let last_pattern = Mutex::new(None);
    environment.add_filter("matches", move |text: &str, pattern: &str| matches(&last_pattern, text, pattern));
    let last_pattern = Mutex::new(None);
    environment.add_test("matches", move |text: &str, pattern: &str| matches(&last_pattern, text, pattern));
}

/// A pattern of a manifest, compiled within bounds.
///
/// # Errors
/// The reason, as text for people, when it is no regular expression or too big a one.
pub(crate) fn pattern(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => format!("the pattern `{pattern}` is too big once compiled"),
        // The last line of the parser's drawing says what is wrong.
        error => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("`{pattern}` is not a regular expression: {reason}")
        }
    })
}

fn map(state: &mut State, list: Value, arguments: Rest<ValueOrKwargs>) -> Result<Vec<Value>, Error> {
    let items = items(state, &list)?;
    for argument in arguments.iter().filter(|argument| argument.is_kwargs()) {
        let named = Kwargs::try_from((**argument).clone())?;
        if let (Ok(path), false) = (named.peek::<&str>("attribute"), named.has("default")) {
            need(&items, path)?;
        }
    }
    filters::map(state, Value::from(items), arguments)
}

fn selectattr(
    state: &mut State,
    list: Value,
    attribute: String,
    test: Option<String>,
    arguments: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    let items = having(state, &list, Some(&attribute))?;
    filters::selectattr(state, items, attribute.into(), test.map(Into::into), arguments)
}

fn rejectattr(
    state: &mut State,
    list: Value,
    attribute: String,
    test: Option<String>,
    arguments: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    let items = having(state, &list, Some(&attribute))?;
    filters::rejectattr(state, items, attribute.into(), test.map(Into::into), arguments)
}

pub(super) fn sum(
    state: &State,
    list: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    let path = attribute.or(named.peek("attribute").ok());
    let items = items(state, &list)?;
    if let Some(path) = path {
        need(&items, path)?;
    }
    let is_number = |value: &Value| value.kind() == ValueKind::Number;
    for (index, item) in items.iter().enumerate() {
        let value = path.map_or_else(|| item.clone(), |path| follow(item, path));
        if !is_number(&value) {
            return Err(invalid(format!("`sum` wants numbers, but item {index} is a {}", value.kind())));
        }
    }
    if !start.as_ref().or(named.peek("start").ok().as_ref()).is_none_or(is_number) {
        return Err(invalid("`sum` wants a number to start with".to_owned()));
    }
    filters::sum(state, Value::from(items), attribute, start, named)
}

pub(super) fn join(
    state: &mut State,
    list: Value,
    joiner: Option<StringInput<'_>>,
    attribute: Option<&str>,
    named: Kwargs,
) -> Result<Value, Error> {
    let items = items(state, &list)?;
    let parts = values(state, &items, attribute.or(named.peek("attribute").ok()))?;
    texts::affordable(state, parts.into_iter())?;
    filters::join(state, &Value::from(items), joiner, attribute, named)
}

fn groupby(state: &State, list: Value, attribute: Option<&str>, named: Kwargs) -> Result<Value, Error> {
    let path = attribute.or(named.peek("attribute").ok());
    let items = items(state, &list)?;
    match path {
        Some(path) if named.has("default") => {
            let values: Vec<Value> = items.iter().map(|item| follow(item, path)).collect();
            texts::sortable(state, values.iter())?;
        }
        path => texts::sortable(state, values(state, &items, path)?.iter())?,
    }
    filters::groupby(Value::from(items), attribute, named)
}

fn sort(state: &State, list: Value, named: Kwargs) -> Result<Value, Error> {
    let items = items(state, &list)?;
    match named.peek::<&str>("attribute") {
        Ok(paths) => paths.split(',').try_for_each(|path| ordered_by(state, "sort", &items, Some(path.trim())))?,
        Err(_) => ordered_by(state, "sort", &items, None)?,
    }
    filters::sort(state, Value::from(items), named)
}

fn dictsort(state: &State, map: Value, named: Kwargs) -> Result<Value, Error> {
    let keys = items(state, &map)?;
    match named.peek::<&str>("by") {
        Ok("value") => {
            let values = keys.iter().map(|key| map.get_item(key)).collect::<Result<Vec<_>, _>>()?;
            order::ordered("dictsort", values.iter())?;
        }
        _ => order::ordered("dictsort", keys.iter())?,
    }
    filters::dictsort(&map, named)
}

fn unique(state: &State, list: Value, named: Kwargs) -> Result<Value, Error> {
    let items = items(state, &list)?;
    texts::sortable(state, values(state, &items, named.peek("attribute").ok())?.iter())?;
    filters::unique(state, Value::from(items), named)
}

fn min(state: &State, list: Value, named: Kwargs) -> Result<Value, Error> {
    let items = items(state, &list)?;
    ordered_by(state, "min", &items, named.peek("attribute").ok())?;
    defined(filters::min(state, Value::from(items), named)?, "smallest")
}

fn max(state: &State, list: Value, named: Kwargs) -> Result<Value, Error> {
    let items = items(state, &list)?;
    ordered_by(state, "max", &items, named.peek("attribute").ok())?;
    defined(filters::max(state, Value::from(items), named)?, "largest")
}

fn first(state: &State, list: Value) -> Result<Value, Error> {
    defined(items(state, &list)?.first().cloned().unwrap_or_default(), "first")
}

fn last(state: &State, list: Value) -> Result<Value, Error> {
    defined(items(state, &list)?.last().cloned().unwrap_or_default(), "last")
}

fn attr(value: Value, path: &str) -> Result<Value, Error> {
    need(std::slice::from_ref(&value), path)?;
    Ok(follow(&value, path))
}

/// These keys of each record of a list, or of one record, in the order they are named.
fn only(state: &State, value: Value, keys: Rest<String>) -> Result<Value, Error> {
    if keys.is_empty() {
        return Err(invalid("`only` wants the names of keys".to_owned()));
    }
    let of = |records: &[Value], record: &Value| -> Result<Value, Error> {
        keys.iter().try_for_each(|key| need(records, key))?;
        state.consume_fuel(keys.len() as u64)?;
        let kept = keys.iter().map(|key| (key.as_str(), record.get_attr(key).unwrap_or_default()));
        Ok(Value::from_pairs(kept))
    };
    if value.kind() == ValueKind::Map {
        return of(std::slice::from_ref(&value), &value);
    }
    let records = items(state, &value)?;
    keys.iter().try_for_each(|key| need(&records, key))?;
    records.iter().map(|record| of(&[], record)).collect()
}

/// Whether every item is true. Of an empty list it is, as in Python.
fn all(state: &State, list: Value) -> Result<bool, Error> {
    Ok(bools(state, &list)?.into_iter().all(|item| item))
}

/// Whether an item is true.
fn any(state: &State, list: Value) -> Result<bool, Error> {
    Ok(bools(state, &list)?.into_iter().any(|item| item))
}

fn bools(state: &State, list: &Value) -> Result<Vec<bool>, Error> {
    items(state, list)?
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            bool::try_from(item.clone()).ok().filter(|_| item.kind() == ValueKind::Bool).ok_or_else(|| {
                invalid(format!("`all` and `any` want true or false, but item {index} is a {}", item.kind()))
            })
        })
        .collect()
}

/// Whether the pattern is found anywhere in the text; `^` and `$` bind it to the ends.
fn matches(last: &Mutex<Option<Regex>>, text: &str, pattern_text: &str) -> Result<bool, Error> {
    // `select("matches", …)` asks with the same pattern for every item.
    let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(regex) = last.as_ref().filter(|regex| regex.as_str() == pattern_text) {
        return Ok(regex.is_match(text));
    }
    let regex = pattern(pattern_text).map_err(invalid)?;
    Ok(last.insert(regex).is_match(text))
}

/// The items of a list, each of which has the attribute.
fn having(state: &State, list: &Value, path: Option<&str>) -> Result<Value, Error> {
    let items = items(state, list)?;
    if let Some(path) = path {
        need(&items, path)?;
    }
    Ok(Value::from(items))
}

/// That items, or what each has at a path, can be put in an order.
fn ordered_by(state: &State, filter: &str, items: &[Value], path: Option<&str>) -> Result<(), Error> {
    let values = values(state, items, path)?;
    texts::sortable(state, values.iter())?;
    order::ordered(filter, values.iter())
}

/// The items, or what each has at a path.
fn values(state: &State, items: &[Value], path: Option<&str>) -> Result<Vec<Value>, Error> {
    let Some(path) = path else { return Ok(items.to_vec()) };
    need(items, path)?;
    state.consume_fuel(items.len() as u64)?;
    Ok(items.iter().map(|item| follow(item, path)).collect())
}

/// The items once and for all: some values can be walked only once, and are walked twice here.
fn items(state: &State, list: &Value) -> Result<Vec<Value>, Error> {
    match list.kind() {
        ValueKind::Undefined => return Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map | ValueKind::String => {}
        kind => return Err(invalid(format!("wants a list, but got a {kind}"))),
    }
    let mut items = Vec::new();
    for item in list.try_iter()? {
        state.consume_fuel(1)?;
        items.push(item);
    }
    Ok(items)
}

fn need(items: &[Value], path: &str) -> Result<(), Error> {
    for (index, item) in items.iter().enumerate() {
        if follow(item, path).is_undefined() {
            let known = known_names(item);
            return Err(invalid(format!("item {index} has no `{path}` (it {known})")));
        }
    }
    Ok(())
}

/// Goes down a dotted path the way the stock filters do; undefined when it leads nowhere.
fn follow(item: &Value, path: &str) -> Value {
    path.split('.').fold(item.clone(), |value, part| {
        let found = match part.parse::<usize>() {
            Ok(index) => value.get_item_by_index(index),
            Err(_) => value.get_attr(part),
        };
        found.unwrap_or_default()
    })
}

/// What a value has, or is: `has name, year`, `is a number`.
pub(super) fn known_names(value: &Value) -> String {
    const SHOWN: usize = 12;
    const LETTERS: usize = 40;
    if value.kind() != ValueKind::Map {
        return format!("is a {}", value.kind());
    }
    // Names may be a model's, and of any length.
    let cut = |name: Value| name.to_string().chars().take(LETTERS).collect::<String>();
    let count = value.len().unwrap_or_default();
    let names: Vec<String> = value.try_iter().into_iter().flatten().take(SHOWN).map(cut).collect();
    let more = if count > SHOWN { ", …" } else { "" };
    if names.is_empty() { "has nothing".to_owned() } else { format!("has {}{more}", names.join(", ")) }
}

fn defined(value: Value, which: &str) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(invalid(format!("an empty list has no {which} item")).with_source(EmptyList));
    }
    Ok(value)
}

/// Marks an error that a right expression meets when there is no data.
#[derive(Debug, thiserror::Error)]
#[error("the list is empty")]
pub(super) struct EmptyList;

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}
