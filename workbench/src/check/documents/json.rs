//! Lists in JSON files: arrays, the values of their items, and the members of objects.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Edit, edit};

/// Objects and arrays within each other that are looked through.
const DEPTH: usize = 3;
/// Arrays, members, and keys of items that are looked at.
const MOST: usize = 12;

/// An array's pointer, a key of its items or nothing for the items themselves, and the values.
type Found = (String, Option<String>, Vec<String>);

/// Arrays that hold something, each followed by the keys of its items that hold plain values.
pub(super) fn arrays(document: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    for (pointer, value) in within(document).into_iter().filter(|(_, value)| value.is_array()).take(MOST) {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        found.push((pointer.clone(), None, items.iter().map(in_words).collect()));
        let keys: BTreeSet<&String> = items.iter().filter_map(Value::as_object).flat_map(|item| item.keys()).collect();
        for key in keys.into_iter().take(MOST) {
            let values: Option<Vec<String>> =
                items.iter().map(|item| item.get(key).filter(|value| is_plain(value)).map(in_words)).collect();
            found.extend(values.map(|values| (pointer.clone(), Some(key.clone()), values)));
        }
    }
    found
}

/// Members of objects outside arrays that hold plain values.
pub(super) fn members(document: &Value) -> Vec<(String, String)> {
    let plain = within(document).into_iter().filter(|(pointer, value)| !pointer.is_empty() && is_plain(value));
    plain.take(MOST).map(|(pointer, value)| (pointer, in_words(value))).collect()
}

/// `evidence.team[].name`, in backticks.
pub(super) fn name(evidence: &str, pointer: &str, key: Option<&str>) -> String {
    let key = key.map(|key| format!("[].{key}")).unwrap_or_default();
    format!("`{evidence}{}{key}`", pointer.replace('/', "."))
}

/// The document with an array changed.
pub(super) fn edited(text: &str, pointer: &str, key: Option<&str>, edits: &[Edit]) -> Option<String> {
    let mut document: Value = serde_json::from_str(text).ok()?;
    let items = document.pointer_mut(pointer)?.as_array_mut()?;
    edit(items, edits, |item, value| {
        let place = match key {
            Some(key) => item.get_mut(key),
            None => Some(item),
        };
        if let Some(place) = place {
            *place = as_before(place, value);
        }
    });
    Some(document.to_string())
}

/// The document with another value at a pointer.
pub(super) fn with_member(text: &str, pointer: &str, edits: &[Edit]) -> Option<String> {
    let mut document: Value = serde_json::from_str(text).ok()?;
    let [Edit::Set(_, value)] = edits else { return None };
    let place = document.pointer_mut(pointer)?;
    *place = as_before(place, value);
    Some(document.to_string())
}

/// The document and what is in it, outside arrays.
fn within(document: &Value) -> Vec<(String, &Value)> {
    let mut found = vec![(String::new(), document)];
    let mut next = 0;
    while let Some((pointer, value)) = found.get(next).cloned() {
        next += 1;
        if pointer.matches('/').count() >= DEPTH {
            continue;
        }
        for (key, member) in value.as_object().into_iter().flatten() {
            found.push((format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), member));
        }
    }
    found.retain(|(_, value)| value.as_array().is_none_or(|items| !items.is_empty()));
    found
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `value` in the type of what stands there.
fn as_before(before: &Value, value: &str) -> Value {
    match before {
        Value::String(_) => Value::from(value),
        _ => serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)),
    }
}
