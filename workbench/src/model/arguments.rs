//! Arguments of a call, whatever a server makes of what the model wrote.

use serde_json::{Value, json};

use crate::bounded_json::{self, depth};

/// Memory that arguments written as a text may take, in bytes as [`bounded_json::weight`] guesses them.
const MEMORY: u64 = 64 << 20;
/// Most arrays and objects that they may stand in: with more, their line of the transcript could not be read again.
const DEEPEST: usize = 100;

/// Arguments as an object. What is none stays as the model wrote it, and whoever makes the call says so.
pub(super) fn of(given: &Value) -> Value {
    match given {
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => match bounded_json::parse::<Value>(text.as_bytes(), MEMORY) {
            Ok(Value::Null) => json!({}),
            // Some models write the object as a text in a text.
            Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
                Ok(object @ Value::Object(_)) if depth(&object) <= DEEPEST => object,
                _ => given.clone(),
            },
            Ok(value) if depth(&value) <= DEEPEST => value,
            _ => given.clone(),
        },
        other => other.clone(),
    }
}

/// As they are sent back. Servers refuse a conversation in which they are no object, though the model wrote that.
pub(super) fn as_sent(input: &Value) -> String {
    if input.is_object() { input.to_string() } else { "{}".to_owned() }
}
