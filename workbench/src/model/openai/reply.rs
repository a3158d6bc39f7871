//! An answer, as every server may write it, as what the model said.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::model::answer::in_short;
use crate::model::arguments;
use crate::model::types::{Block, StopReason};

/// Beginnings of tool calls as models write them, which a server should have read.
const RAW_CALLS: [&str; 4] = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call"];

/// What a model said, and why it stopped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) content: Vec<Block>,
    pub(super) stop_reason: StopReason,
    pub(super) stop_detail: Option<String>,
}

/// The ids of the calls of one conversation: each is there once, whatever the server gives.
#[derive(Debug, Default)]
pub(super) struct Ids {
    used: HashSet<String>,
    made: u64,
}

impl Ids {
    /// The server's id, or one of our own where it gave none, or one that it gave before.
    fn of(&mut self, given: &Value) -> String {
        if let Some(given) = given.as_str().filter(|id| !id.is_empty() && !self.used.contains(*id)) {
            self.used.insert(given.to_owned());
            return given.to_owned();
        }
        loop {
            self.made += 1;
            let id = format!("call_{}", self.made);
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

impl Said {
    /// Reads an answer in which there is no complaint.
    ///
    /// # Errors
    /// When it is no answer; the text says what is missing.
    pub(super) fn in_document(document: &Value, ids: &mut Ids) -> Result<Self, String> {
        let choice = &document["choices"][0];
        let message = &choice["message"];
        if !message.is_object() {
            return Err("has no `choices[0].message`".to_owned());
        }
        if message["function_call"].is_object() {
            return Err("has a `function_call`, a form older than the tools that were offered".to_owned());
        }
        let mut content = thinking(message);
        content.extend(words(&message["content"]));
        let refusal = message["refusal"].as_str().filter(|text| !text.is_empty());
        content.extend(refusal.map(|text| Block::Other(json!({ "type": "refusal", "refusal": text }))));
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        content.extend(calls.iter().filter(|call| !call.is_null()).map(|call| self::call(call, ids)));
        let (stop_reason, stop_detail) = stop(&content, choice["finish_reason"].as_str(), refusal);
        let stop_detail = stop_detail.map(|detail| in_short(&detail));
        Ok(Self { content, stop_reason, stop_detail })
    }
}

/// What is kept for people and not sent back: servers call it `reasoning`, `reasoning_content` or `reasoning_details`.
fn thinking(message: &Value) -> Vec<Block> {
    let fields = message.as_object().into_iter().flatten();
    fields
        .filter(|(name, value)| {
            let is_empty = value.is_null() || value.as_str() == Some("") || *value == &json!([]);
            name.starts_with("reasoning") && !is_empty
        })
        .map(|(name, value)| Block::Other(json!({ "type": "reasoning", name: value })))
        .collect()
}

/// A text, or a list of parts of which some are texts.
fn words(content: &Value) -> Vec<Block> {
    let text = |text: &str| (!text.is_empty()).then(|| Block::Text { text: text.to_owned() });
    match content {
        Value::String(whole) => text(whole).into_iter().collect(),
        Value::Array(parts) => {
            let part = |part: &Value| match (part, part["text"].as_str()) {
                (Value::String(words), _) => text(words),
                (_, Some(words)) => text(words),
                (Value::Null, None) => None,
                (other, None) => Some(Block::Other(json!({ "type": "part", "part": other }))),
            };
            parts.iter().filter_map(part).collect()
        }
        Value::Null => Vec::new(),
        other => vec![Block::Text { text: other.to_string() }],
    }
}

fn call(call: &Value, ids: &mut Ids) -> Block {
    let function = &call["function"];
    Block::ToolUse {
        id: ids.of(&call["id"]),
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        input: arguments::of(&function["arguments"]),
        caller: None,
    }
}

/// Calls count before the reason: servers write `stop` beside them, and `tool_calls` where there are none.
fn stop(content: &[Block], reason: Option<&str>, refusal: Option<&str>) -> (StopReason, Option<String>) {
    let has_calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    match (reason, refusal) {
        (_, Some(words)) => (StopReason::Refusal, Some(words.to_owned())),
        (Some("content_filter"), None) => {
            (StopReason::Refusal, Some("the provider's content filter cut the answer".to_owned()))
        }
        (Some("length" | "max_tokens"), None) => (StopReason::MaxTokens, None),
        _ if has_calls => (StopReason::ToolUse, None),
        _ if has_raw_call(content) => {
            let detail = "the answer has a tool call among its words: the server does not read calls as this model \
                          writes them; choose another tool parser or chat template";
            (StopReason::EndTurn, Some(detail.to_owned()))
        }
        (Some("stop") | None, None) => (StopReason::EndTurn, None),
        (Some(other), None) => {
            (StopReason::EndTurn, Some(format!("the server gives `{other}` as the reason, and there is no call")))
        }
    }
}

fn has_raw_call(content: &[Block]) -> bool {
    content.iter().any(|block| match block {
        Block::Text { text } => RAW_CALLS.iter().any(|start| text.contains(start)),
        _ => false,
    })
}
