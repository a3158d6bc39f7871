//! JSON that others made: parsed only when it is small enough once it is in memory.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::files::megabytes;

/// Bytes of memory a value takes beside its text: the value itself, a key, and the room a growing list keeps free.
const VALUE: u64 = 128;

/// Bytes of memory that parsing `text` takes, guessed from above without parsing: `[0,0,0…` grows sixty-fold. Commas
/// inside texts count as well.
pub fn weight(text: &[u8]) -> u64 {
    let values = 1 + text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() as u64;
    text.len() as u64 + values * VALUE
}

/// Bytes of memory that a value takes, guessed from above like [`weight`].
pub fn memory_of(value: &Value) -> u64 {
    VALUE
        + match value {
            Value::String(text) => text.len() as u64,
            Value::Array(items) => items.iter().map(memory_of).sum(),
            Value::Object(entries) => entries.iter().map(|(key, value)| key.len() as u64 + memory_of(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

/// How many arrays and objects the innermost value stands in.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(entries) => 1 + entries.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Why a document was not parsed.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// It would fill the memory.
    #[error("it would take some {} MB of memory; at most {} MB are spent on it", megabytes(*weight), megabytes(*limit))]
    TooBig {
        /// See [`weight`].
        weight: u64,
        /// What is spent at most, in bytes.
        limit: u64,
    },
    /// It is no JSON, or not the JSON that is wanted.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The document, if it takes at most `limit` bytes of memory. Of equal keys the last counts, as in Python and JavaScript.
///
/// # Errors
/// When it takes more, or is not what is wanted.
pub fn parse<T: DeserializeOwned>(text: &[u8], limit: u64) -> Result<T, ParseError> {
    match weight(text) {
        weight if weight > limit => Err(ParseError::TooBig { weight, limit }),
        _ => Ok(serde_json::from_slice(text)?),
    }
}
