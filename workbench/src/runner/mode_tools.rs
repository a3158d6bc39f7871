//! What a mode offers the model, and who answers what it asks for.

use async_trait::async_trait;
use serde_json::Value;

use super::{RunError, prompts};
use crate::model::types::ToolDefinition;

/// One call the model asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// Names the call in its answer.
    pub(super) id: String,
    /// Name of the tool.
    pub(super) name: String,
    /// Its arguments, as the model wrote them.
    pub(super) input: Value,
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

    /// Answers the calls of one turn, in their order. What a call does wrong is its answer; an error
    /// is a fault of ours.
    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError>;

    /// Scripts run so far.
    fn scripts_run(&self) -> u32 {
        0
    }
}
