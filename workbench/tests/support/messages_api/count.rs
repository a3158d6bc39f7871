//! How the strict API counts: four bytes are a token, and each part has one more. It knows no tokenizer.

use serde_json::{Value, json};

/// What it counted of one request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// All that was read, however it was billed.
    pub(crate) read: u64,
    pub(crate) from_cache: u64,
    pub(crate) to_cache: u64,
    pub(crate) written: u64,
}

impl Counted {
    pub(crate) fn usage(&self) -> Value {
        json!({
            "input_tokens": self.read - self.from_cache - self.to_cache, "output_tokens": self.written,
            "cache_read_input_tokens": self.from_cache, "cache_creation_input_tokens": self.to_cache,
            "cache_creation": { "ephemeral_5m_input_tokens": self.to_cache, "ephemeral_1h_input_tokens": 0 },
            "output_tokens_details": { "thinking_tokens": 0 }, "server_tool_use": null, "service_tier": "standard",
        })
    }
}

/// A part of a request, in the order in which a cache compares: tools, system text, blocks of messages.
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) tokens: u64,
    /// Whether a mark of the cache stands at its end.
    pub(crate) is_marked: bool,
}

/// The parts of a request.
pub(crate) fn parts(body: &Value) -> Vec<Part> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut values = list(&body["tools"]);
    match &body["system"] {
        Value::String(text) => values.push(json!({ "type": "text", "text": text })),
        blocks => values.extend(list(blocks)),
    }
    values.extend(list(&body["messages"]).iter().flat_map(|message| list(&message["content"])));
    values.into_iter().map(part).collect()
}

fn part(mut value: Value) -> Part {
    let mark = value.as_object_mut().and_then(|fields| fields.shift_remove("cache_control"));
    let text = value.to_string();
    Part { tokens: tokens(&text), text, is_marked: mark.is_some() }
}

/// Tokens of a text.
pub(crate) fn tokens(text: &str) -> u64 {
    text.len() as u64 / 4 + 1
}
