//! What the API remembers of what it said: a conversation must repeat it byte for byte, behind what it was an answer to.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::count::{self, Counted};
use super::rules::Refusal;

/// Answers and caches so far.
#[derive(Default)]
pub(crate) struct Memory {
    /// The text of each content, and the conversations it was an answer to.
    said: HashMap<String, HashSet<String>>,
    /// Answers that were paused, and may stand last.
    paused: HashSet<String>,
    cached: HashSet<String>,
    ids: usize,
    /// Whether what the model said may be repeated in other bytes of the same meaning, as clients of others do.
    by_value: bool,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    role: &'a str,
    #[serde(borrow)]
    content: &'a RawValue,
}

impl Memory {
    /// One for clients that write what they were told in bytes of their own.
    pub(crate) fn by_value() -> Self {
        Self { by_value: true, ..Self::default() }
    }

    /// Whether a conversation says of the model what the model said.
    pub(crate) fn check(&self, body: &[u8]) -> Result<(), Refusal> {
        let body: Body<'_> = serde_json::from_slice(body).unwrap();
        for (number, message) in body.messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
            let known = self.said.get(&self.form(message.content.get()));
            if !known.is_some_and(|known| known.contains(&self.before(&body.messages[..number]))) {
                return Err(Refusal::invalid(format!(
                    "messages.{number}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message \
                     cannot be modified, nor what stands before them"
                )));
            }
        }
        match body.messages.last() {
            Some(last) if last.role == "assistant" && !self.paused.contains(last.content.get()) => {
                Err(Refusal::invalid(
                    "This model does not support assistant message prefill. The conversation must end with a user message.",
                ))
            }
            _ => Ok(()),
        }
    }

    /// The turn, with ids for its calls that were never used before.
    pub(crate) fn with_ids(&mut self, mut turn: Value) -> Value {
        for block in turn["content"].as_array_mut().into_iter().flatten() {
            if block["type"] == "tool_use" && block.get("id").is_none() {
                self.ids += 1;
                block["id"] = format!("toolu_{:04}", self.ids).into();
            }
        }
        turn
    }

    /// Remembers the answer to a conversation.
    pub(crate) fn said(&mut self, body: &[u8], turn: &Value) -> String {
        let content = in_bytes(turn);
        let body: Body<'_> = serde_json::from_slice(body).unwrap();
        let before = self.before(&body.messages);
        // What it wrote itself it does not take where arguments are no object.
        let sent_back = self.form(&in_bytes(&with_objects(turn)));
        self.said.entry(sent_back).or_default().insert(before);
        if turn["stop_reason"] == "pause_turn" {
            self.paused.insert(content.clone());
        }
        content
    }

    /// Counts a request and its answer, and what of it a cache held or holds now.
    pub(crate) fn count(&mut self, body: &Value, content: &str) -> Counted {
        let (mut counted, mut prefix) = (Counted { read: 0, from_cache: 0, to_cache: 0, written: 0 }, String::new());
        let mut marked = 0;
        for part in count::parts(body) {
            prefix.push_str(&part.text);
            counted.read += part.tokens;
            if part.is_marked {
                marked = counted.read;
                if !self.cached.insert(prefix.clone()) {
                    counted.from_cache = counted.read;
                }
            }
        }
        counted.to_cache = marked - counted.from_cache;
        counted.written = count::tokens(content);
        counted
    }

    /// A conversation as a text in which marks of the cache count for nothing.
    fn before(&self, messages: &[Message<'_>]) -> String {
        let texts = messages.iter().map(|message| {
            if message.role == "assistant" {
                return self.form(message.content.get());
            }
            let mut content: Value = serde_json::from_str(message.content.get()).unwrap();
            for block in content.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                block.shift_remove("cache_control");
            }
            self.form(&content.to_string())
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What is compared: the bytes, or what they mean.
    fn form(&self, content: &str) -> String {
        if !self.by_value {
            return content.to_owned();
        }
        let mut content: Value = serde_json::from_str(content).unwrap();
        content.sort_all_objects();
        content.to_string()
    }
}

/// The content of a turn in bytes that no writer of JSON makes of it again.
fn in_bytes(turn: &Value) -> String {
    let blocks = |content: &[Value]| -> Vec<String> {
        content.iter().map(|block| block.to_string().replace("sig=", "sig\\u003d")).collect()
    };
    match &turn["content"] {
        Value::Array(content) => format!("[ {} ]", blocks(content).join(" , ")),
        other => other.to_string(),
    }
}

fn with_objects(turn: &Value) -> Value {
    let mut turn = turn.clone();
    for block in turn["content"].as_array_mut().into_iter().flatten() {
        if block["type"] == "tool_use" && !block["input"].is_object() {
            block["input"] = json!({});
        }
    }
    turn
}
