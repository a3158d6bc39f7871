//! What the runner and a model say to each other, whatever the provider.

use std::time::Instant;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::domain::manifest::Callers;

/// One request: the whole conversation so far, as every provider's API wants it.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The system text of the mode.
    pub system: &'a str,
    /// The tools on offer.
    pub tools: &'a [ToolDefinition],
    /// Everything said so far; the last message is the user's.
    pub messages: &'a [Message],
    /// Tokens the answer may have.
    pub max_tokens: u32,
    /// Whether one answer may hold several tool calls.
    pub parallel_calls: bool,
    /// When the run's time is up: no try starts and no wait ends later.
    pub until: Option<Instant>,
}

impl ModelRequest<'_> {
    /// Whether the provider is to run scripts that call these tools.
    pub fn has_scripts(&self) -> bool {
        self.tools.iter().any(|tool| tool.callers != Callers::Direct)
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does and returns.
    pub description: String,
    /// JSON schema of its arguments.
    pub input_schema: Value,
    /// Who may call it.
    #[serde(skip)]
    pub callers: Callers,
}

/// The script that made a call, as the Messages API tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The tool that runs it, with its version.
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the block that has the script.
    pub tool_id: String,
}

/// One message of the conversation: a line of `transcript.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Block>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The task, or the results of tools.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// The model asks for a tool call.
    ToolUse {
        /// Names the call in its answer.
        id: String,
        /// Name of the tool.
        name: String,
        /// Arguments.
        input: Value,
        /// The script that made it, where a provider runs scripts; the model itself where there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Caller>,
    },
    /// The answer to a call.
    ToolResult {
        /// `id` of the call.
        tool_use_id: String,
        /// What the model reads: JSON as the tool gave it, or a text.
        content: String,
        /// Whether the text is an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// What the provider said beside that, such as thinking, as it came: kept in the transcript. The model's side of the
    /// conversation sends it back untouched.
    #[serde(untagged)]
    Other(Value),
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// What it said, in order.
    pub content: Vec<Block>,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// The provider's words about that, where it has any: why it refused, a reason that is not known here.
    pub stop_detail: Option<String>,
    /// What was read and written.
    pub usage: Usage,
    /// US dollars, where the provider itself says what the request cost.
    pub cost: Option<f64>,
    /// The provider's container in which scripts of the model run, where one is in use.
    pub container: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// Its answer was cut at `max_tokens`, or the conversation filled all it can read.
    MaxTokens,
    /// It will not.
    Refusal,
    /// The provider paused it: the same request again, with what it said so far, goes on.
    Paused,
}

/// Tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached input.
    pub input_tokens: u64,
    /// Output.
    pub output_tokens: u64,
    /// Read from a prompt cache.
    pub cache_read_tokens: u64,
    /// Written to a prompt cache.
    pub cache_write_tokens: u64,
    /// Whether these were counted locally.
    pub estimated: bool,
}

impl Usage {
    /// What the model read, however it was billed.
    pub fn tokens_read(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }
}

/// A request to a provider that was made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// What was wrong with the try before: a status with the provider's words, or a broken connection.
    pub cause: String,
    /// Seconds waited before the next try.
    pub wait_seconds: f64,
}

/// Said of a run whose model may have thought more than was asked of it, since its server took no word about that.
pub const THINKING_NOT_SET: &str = "thinking not set: the server refused the wish";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No usable answer came over the network, also after retries.
    #[error("{0}")]
    Unreachable(String),
    /// The provider answered, and will not serve this request: a wrong key, an unknown model, no credit.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What was refused, where, with the provider's words.
        message: String,
    },
    /// The conversation is longer than what the model can read.
    #[error("{0}")]
    TooLong(String),
    /// The provider's answer is not what its API promises.
    #[error("{0}")]
    BadAnswer(String),
    /// The run's time was up before there was an answer.
    #[error("the run's time was up before the model had answered")]
    OutOfTime,
    /// A run that is replayed was cut off here.
    #[error("the record that is replayed ends after turn {turns}")]
    RecordEnds {
        /// Turns it has.
        turns: usize,
    },
    /// The rehearsal's script.
    #[error("the rehearsal script failed: {0}")]
    Rehearsal(String),
}

/// In which language a model writes scripts that its provider runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// With the tools as coroutine functions that return texts.
    #[default]
    Python,
    /// With the tools as methods of `tools`, and `text(…)` in the place of `print`.
    JavaScript,
}

/// Something that can be asked. One value serves one run; it may keep state between requests.
#[async_trait]
pub trait Model: Send {
    /// The next answer.
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError>;

    /// What it writes in mode `hosted`.
    fn script_language(&self) -> ScriptLanguage {
        ScriptLanguage::Python
    }

    /// What was asked otherwise than the settings say, since the provider did not take it so; each is a deviation of the run.
    fn deviations(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The retries since this was last asked, also those of a request that failed in the end or was given up.
    fn take_retries(&mut self) -> Vec<Retry> {
        Vec::new()
    }
}
