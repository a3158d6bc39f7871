//! Who speaks behind the server: the scripts of a domain, turns from a file, or any model the workbench can talk to.
//!
//! None of them keeps anything: what is to be said next follows from the conversation, which every request brings whole.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tools::CODE_EXECUTION;
use crate::files;
use crate::model::provider::Provider;
use crate::model::tokens::{self, ConversationCount, count_blocks};
use crate::model::types::{Block, ModelError, ModelReply, ModelRequest, Role, StopReason, Usage};

/// Whoever speaks.
#[async_trait]
pub trait Backend: Send + Sync {
    /// What comes next. Code is a call of the tool `code_execution`, whose one argument is `code`.
    async fn say(&self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError>;

    /// Tokens of a request, counted as those of a reply are.
    async fn count(&self, request: ModelRequest<'_>) -> Result<u64, ModelError> {
        Ok(ConversationCount::default().read(&request))
    }
}

/// A stand-in that writes the same cells in every conversation, and ends with what the last one printed.
pub struct Cells {
    codes: Vec<String>,
}

impl Cells {
    /// Writes these cells, in order.
    pub fn new(codes: Vec<String>) -> Self {
        tokens::prepare();
        Self { codes }
    }
}

#[async_trait]
impl Backend for Cells {
    async fn say(&self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let written =
            request.messages.iter().flat_map(|message| &message.content).filter(|block| is_cell(block)).count();
        let content = match self.codes.get(written) {
            Some(_) if !request.tools.iter().any(|tool| tool.name == CODE_EXECUTION) => {
                text("The stand-in behind this server writes cells only: declare the tool `code_execution`.")
            }
            Some(code) => cell(code),
            None => text(last_result(&request)),
        };
        Ok(reply_of(&request, vec![content], None))
    }
}

/// Turns from a file, one for each time the model would speak.
pub struct ScriptedTurns {
    turns: Vec<ScriptedTurn>,
}

/// What a scripted model says once.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedTurn {
    /// Words before anything else.
    text: Option<String>,
    /// Cells.
    #[serde(default)]
    code: Vec<String>,
    /// Calls that it makes itself.
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    /// Why it stops, when not for what it asked.
    stop_reason: Option<ScriptedStop>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    name: String,
    #[serde(default)]
    input: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScriptedStop {
    EndTurn,
    MaxTokens,
    Refusal,
    PauseTurn,
}

/// Why a file of turns cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum TurnsError {
    /// It cannot be read.
    #[error("could not read the turns in {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is no list of turns.
    #[error("{path} is no list of turns: {source}")]
    Malformed {
        /// The file.
        path: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A turn is paused where nobody could go on.
    #[error(
        "turn {number} of {path} stops with `pause_turn` and has no `code`; an answer is paused behind cells, since its own \
         words cannot stand last when it is sent back: give it a cell, or leave `stop_reason` out"
    )]
    Paused {
        /// The file.
        path: String,
        /// Which of its turns, from one.
        number: usize,
    },
}

impl ScriptedTurns {
    /// Reads a file: a JSON list of turns.
    ///
    /// # Errors
    /// When it cannot be read, is no such list, or has a turn that no conversation could go on from.
    pub fn read(path: &Path) -> Result<Self, TurnsError> {
        let name = || path.display().to_string();
        let text = files::read_text(path, files::LONGEST_TEXT)
            .map_err(|source| TurnsError::Unreadable { path: name(), source })?;
        let turns: Vec<ScriptedTurn> =
            serde_json::from_str(&text).map_err(|source| TurnsError::Malformed { path: name(), source })?;
        let is_stuck =
            |turn: &ScriptedTurn| matches!(turn.stop_reason, Some(ScriptedStop::PauseTurn)) && turn.code.is_empty();
        if let Some(place) = turns.iter().position(is_stuck) {
            return Err(TurnsError::Paused { path: name(), number: place + 1 });
        }
        tokens::prepare();
        Ok(Self { turns })
    }
}

#[async_trait]
impl Backend for ScriptedTurns {
    async fn say(&self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let spoken = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let Some(turn) = self.turns.get(spoken) else {
            let content = text("(the file of turns has no more)");
            return Ok(reply_of(&request, vec![content], None));
        };
        let mut content: Vec<Block> = turn.text.as_deref().map(text).into_iter().collect();
        content.extend(turn.code.iter().map(|code| cell(code)));
        content.extend(turn.calls.iter().map(|call| Block::ToolUse {
            id: String::new(),
            name: call.name.clone(),
            input: if call.input.is_null() { json!({}) } else { call.input.clone() },
            caller: None,
        }));
        let stop = turn.stop_reason.map(|stop| match stop {
            ScriptedStop::EndTurn => StopReason::EndTurn,
            ScriptedStop::MaxTokens => StopReason::MaxTokens,
            ScriptedStop::Refusal => StopReason::Refusal,
            ScriptedStop::PauseTurn => StopReason::Paused,
        });
        Ok(reply_of(&request, content, stop))
    }
}

/// A model of a provider, which gains programmatic calling by standing behind this server.
pub struct ProvidersModel(pub Arc<dyn Provider>);

#[async_trait]
impl Backend for ProvidersModel {
    async fn say(&self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        self.0.open().reply(request).await
    }

    async fn count(&self, request: ModelRequest<'_>) -> Result<u64, ModelError> {
        match self.0.count(request).await? {
            Some(tokens) => Ok(tokens),
            None => Ok(ConversationCount::default().read(&request)),
        }
    }
}

fn is_cell(block: &Block) -> bool {
    matches!(block, Block::ToolUse { name, .. } if name == CODE_EXECUTION)
}

fn cell(code: &str) -> Block {
    super::conversation::cell("", json!({ "code": code }))
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn last_result<'a>(request: &ModelRequest<'a>) -> &'a str {
    let results = request.messages.iter().rev().flat_map(|message| message.content.iter().rev());
    let text = results.filter_map(|block| match block {
        Block::ToolResult { content, .. } => Some(content.trim_end()),
        _ => None,
    });
    text.into_iter().next().unwrap_or_default()
}

/// With tokens as they are counted on this machine.
fn reply_of(request: &ModelRequest<'_>, content: Vec<Block>, stop: Option<StopReason>) -> ModelReply {
    let usage = Usage {
        input_tokens: ConversationCount::default().read(request),
        output_tokens: count_blocks(&content),
        estimated: true,
        ..Usage::default()
    };
    let calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
    let by_content = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
    ModelReply {
        content,
        stop_reason: stop.unwrap_or(by_content),
        stop_detail: None,
        usage,
        cost: None,
        container: None,
    }
}
