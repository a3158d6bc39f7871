//! What a mode offers the model, and who answers what it asks for.

use async_trait::async_trait;
use serde_json::Value;

use super::{RunError, prompts};
use crate::model::types::{Block, ModelReply, ToolDefinition};
use crate::results::format::Hosted;

/// One call the model asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// Names the call in its answer.
    pub(super) id: String,
    /// Name of the tool.
    pub(super) name: String,
    /// Its arguments, as the model wrote them.
    pub(super) input: Value,
    /// The script that made it, where the provider runs scripts.
    pub(super) script: Option<String>,
}

/// What the model reads for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The text.
    pub(super) text: String,
    /// Whether the call failed.
    pub(super) is_error: bool,
}

impl Answer {
    pub(super) fn good(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub(super) fn failure(message: &str) -> Self {
        Self { text: prompts::failure(message), is_error: true }
    }
}

/// A mode's side of the conversation.
#[async_trait]
pub(super) trait ModeTools: Send + Sync {
    /// The tools the model is shown.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// What the model's words ask for: as a rule, the calls among them.
    fn asked(&self, content: &[Block]) -> Vec<Asked> {
        calls_in(content)
    }

    /// Hears all that the model said on a turn, before its calls are answered.
    ///
    /// # Errors
    /// When something of it cannot be kept.
    fn hear(&self, reply: &ModelReply) -> Result<(), RunError> {
        let _ = reply;
        Ok(())
    }

    /// What the provider's sandbox was used for, in the mode that has one.
    fn hosted(&self) -> Option<Hosted> {
        None
    }

    /// The answers as the parts of the next message.
    fn results(&self, calls: Vec<Asked>, answers: Vec<Answer>) -> Vec<Block> {
        calls.into_iter().zip(answers).map(as_result).collect()
    }

    /// Answers the calls of one turn, in their order. What a call does wrong is its answer; an error
    /// is a fault of ours.
    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError>;

    /// Scripts run so far.
    fn scripts_run(&self) -> u32 {
        0
    }
}

/// The calls that a model asked for as such.
pub(super) fn calls_in(content: &[Block]) -> Vec<Asked> {
    let calls = content.iter().filter_map(|block| match block {
        Block::ToolUse { id, name, input, caller } => Some(Asked {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
            script: caller.as_ref().map(|caller| caller.tool_id.clone()),
        }),
        _ => None,
    });
    calls.collect()
}

/// The answer to a call that was asked for as such.
pub(super) fn as_result((call, answer): (Asked, Answer)) -> Block {
    Block::ToolResult { tool_use_id: call.id, content: answer.text, is_error: answer.is_error }
}

/// What is wrong with arguments that are no object; a model's words that are no JSON come as a text.
pub(super) fn malformed(input: &Value) -> Option<String> {
    match input {
        Value::Object(_) => None,
        Value::String(text) => Some(match serde_json::from_str::<Value>(text) {
            Err(error) => prompts::no_json(&error),
            Ok(Value::Object(_) | Value::Array(_)) => prompts::TOO_DEEP.to_owned(),
            Ok(_) => prompts::NO_OBJECT.to_owned(),
        }),
        _ => Some(prompts::NO_OBJECT.to_owned()),
    }
}
