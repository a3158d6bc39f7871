//! The order of messages and blocks: who speaks, and that every call is answered at once.

use serde_json::Value;

use super::rules::{Refusal, keys, mark};

/// A turn: messages of one side that follow each other are one.
struct Turn<'a> {
    /// Place of its first message.
    number: usize,
    is_user: bool,
    blocks: Vec<&'a Value>,
}

pub(crate) fn check(body: &Value) -> Result<(), Refusal> {
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Refusal::invalid("messages: at least one message is required"))?;
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        keys(&format!("messages.{number}"), message, &["role", "content"])?;
        let is_user = match message["role"].as_str() {
            Some("user") => true,
            Some("assistant") => false,
            _ => {
                return Err(Refusal::invalid(format!("messages.{number}.role: Input should be 'user' or 'assistant'")));
            }
        };
        let blocks = message["content"].as_array().filter(|blocks| !blocks.is_empty()).ok_or_else(|| {
            Refusal::invalid(format!(
                "messages.{number}: all messages must have non-empty content except for the optional final assistant message"
            ))
        })?;
        for (place, block) in blocks.iter().enumerate() {
            shape(&format!("messages.{number}.content.{place}"), block, is_user)?;
        }
        match turns.last_mut() {
            Some(turn) if turn.is_user == is_user => turn.blocks.extend(blocks),
            _ => turns.push(Turn { number, is_user, blocks: blocks.iter().collect() }),
        }
    }
    if !turns[0].is_user {
        return Err(Refusal::invalid("messages: first message must use the \"user\" role"));
    }
    for (place, turn) in turns.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| ids(&turns[place].blocks, "tool_use", "id")).unwrap_or_default();
        if turn.is_user {
            answers(turn, &before)?;
        }
    }
    if let Some(last) = turns.last().filter(|turn| !turn.is_user) {
        let open = ids(&last.blocks, "tool_use", "id");
        if let Some(id) = open.first() {
            return Err(unanswered(last.number, id));
        }
    }
    Ok(())
}

/// What a block must be. What the model said is compared with what it was sent elsewhere.
fn shape(place: &str, block: &Value, of_user: bool) -> Result<(), Refusal> {
    mark(place, block)?;
    match block["type"].as_str() {
        Some("text") => match block["text"].as_str() {
            Some("") => Err(Refusal::invalid(format!("{place}: text content blocks must be non-empty"))),
            Some(_) if of_user => keys(place, block, &["type", "text", "cache_control"]),
            Some(_) => Ok(()),
            None => Err(Refusal::invalid(format!("{place}.text: Input should be a valid string"))),
        },
        Some("tool_result") if of_user => {
            keys(place, block, &["type", "tool_use_id", "content", "is_error", "cache_control"])?;
            match (&block["content"], &block["is_error"]) {
                (Value::String(_), Value::Null | Value::Bool(_)) => Ok(()),
                _ => Err(Refusal::invalid(format!("{place}.content: Input should be a valid string"))),
            }
        }
        Some(kind) if of_user => {
            Err(Refusal::invalid(format!("{place}: `{kind}` blocks may not stand in user messages")))
        }
        Some("tool_use") if !block["input"].is_object() => {
            Err(Refusal::invalid(format!("{place}.input: Input should be a valid dictionary")))
        }
        Some(_) => Ok(()),
        None => Err(Refusal::invalid(format!("{place}.type: Field required"))),
    }
}

/// Whether a turn of the user answers these calls, each once, before anything else.
fn answers(turn: &Turn<'_>, calls: &[&str]) -> Result<(), Refusal> {
    let results = ids(&turn.blocks, "tool_result", "tool_use_id");
    let first = turn.blocks.iter().take_while(|block| block["type"] == "tool_result").count();
    if let Some(missing) = calls.iter().find(|id| !results[..first.min(results.len())].contains(id)) {
        return Err(unanswered(turn.number - 1, missing));
    }
    let mut left = calls.to_vec();
    for (place, id) in results.iter().enumerate() {
        match left.iter().position(|call| call == id) {
            Some(found) => _ = left.swap_remove(found),
            None => {
                return Err(Refusal::invalid(format!(
                    "messages.{}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the previous message.",
                    turn.number
                )));
            }
        }
    }
    Ok(())
}

fn unanswered(number: usize, id: &str) -> Refusal {
    Refusal::invalid(format!(
        "messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message."
    ))
}

fn ids<'a>(blocks: &[&'a Value], kind: &str, key: &str) -> Vec<&'a str> {
    blocks.iter().filter(|block| block["type"] == kind).filter_map(|block| block[key].as_str()).collect()
}
