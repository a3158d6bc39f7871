//! What was said in a recorded run, turn by turn. A transcript may come from anybody, so it is checked while it is read.

use std::path::Path;

use serde_json::Value;

use super::types::{Block, Message, Role};
use crate::bounded_json::memory_of;
use crate::files::megabytes;
use crate::results::store::{StoreError, read_transcript};

/// Memory that all messages of a transcript may take together, in bytes as [`memory_of`] guesses them.
const LONGEST: u64 = 256 << 20;

/// A conversation that was held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// What the model was asked to do.
    pub task: String,
    /// The model's answers, with what it read for them.
    pub turns: Vec<SaidTurn>,
}

/// One answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidTurn {
    /// What it said, in order.
    pub said: Vec<Block>,
    /// What it read for its calls, in their order; nothing when the run ended before that was written down.
    pub results: Vec<ResultText>,
    /// What it read for a script in its words, where it has none to call.
    pub words_result: Option<ResultText>,
}

/// What a model read for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultText {
    /// The text.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}

/// A call that a model asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaidCall<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Its arguments, as the model wrote them.
    pub arguments: &'a Value,
}

/// Why a transcript cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// The file cannot be read, or a line of it is no JSON.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A message stands where none of its kind can.
    #[error("transcript.jsonl: message {number} {reason}")]
    Message {
        /// From 1; empty lines do not count.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It would fill the memory.
    #[error(
        "transcript.jsonl: message {number} and those before it would take more than {} MB of memory, the most that is \
         spent on a transcript",
        megabytes(LONGEST)
    )]
    TooLong {
        /// The message with which it does, from 1.
        number: usize,
    },
}

impl Transcript {
    /// Reads the transcript in a run's folder: the task, then an answer of the model and the results of its calls in
    /// turn. It may end anywhere, since a run may be killed at any time. A half-written last line is left out.
    ///
    /// # Errors
    /// When it cannot be read, is too long, or is no conversation: a message out of order, a call without a result or a
    /// result without a call. The text names the message.
    pub fn read(run: &Path) -> Result<Self, TranscriptError> {
        let mut transcript = Self::default();
        let mut weight = 0;
        for (number, message) in (1..).zip(read_transcript(run)?) {
            let value = message?;
            weight += memory_of(&value);
            if weight > LONGEST {
                return Err(TranscriptError::TooLong { number });
            }
            transcript.add(number, value).map_err(|reason| TranscriptError::Message { number, reason })?;
        }
        Ok(transcript)
    }

    fn add(&mut self, number: usize, value: Value) -> Result<(), String> {
        let Message { role, content } = message(value)?;
        match (role, self.turns.last_mut()) {
            (Role::User, None) if number == 1 => self.task = words_of(content)?,
            (Role::User, None) => return Err("is the user's, and so is the one before it".to_owned()),
            (Role::Assistant, None) if number == 1 => {
                return Err("is the model's, and nobody has asked it yet".to_owned());
            }
            (Role::User, Some(turn)) => turn.hear(content)?,
            (Role::Assistant, Some(turn)) if turn.lacks_results() => {
                return Err("is the model's, and the calls of its answer before are without results".to_owned());
            }
            (Role::Assistant, _) => self.turns.push(SaidTurn::new(content)?),
        }
        Ok(())
    }
}

impl SaidTurn {
    fn new(said: Vec<Block>) -> Result<Self, String> {
        if said.iter().any(|block| matches!(block, Block::ToolResult { .. })) {
            return Err("is the model's, and holds the result of a call".to_owned());
        }
        Ok(Self { said, results: Vec::new(), words_result: None })
    }

    /// The calls it asked for, in order.
    pub fn calls(&self) -> impl Iterator<Item = SaidCall<'_>> {
        self.said.iter().filter_map(|block| match block {
            Block::ToolUse { name, input, .. } => Some(SaidCall { tool: name, arguments: input }),
            _ => None,
        })
    }

    fn lacks_results(&self) -> bool {
        self.results.is_empty() && self.calls().next().is_some()
    }

    /// Takes the results of its calls: one each, in their order. Behind them, or alone, may stand what came of a script in
    /// its words.
    fn hear(&mut self, mut content: Vec<Block>) -> Result<(), String> {
        let is_heard = !self.results.is_empty() || self.words_result.is_some();
        let words = content.pop_if(|last| matches!(last, Block::Text { .. }));
        if is_heard || (words.is_none() && !self.lacks_results()) {
            return Err(
                "is the user's, and the model's answer before it has no calls that are without results".to_owned()
            );
        }
        if let Some(Block::Text { text }) = words {
            self.words_result = Some(ResultText { text, is_error: false });
        }
        let ids: Vec<&str> = self
            .said
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        if content.len() != ids.len() {
            return Err(format!("has {} results for {} calls", content.len(), ids.len()));
        }
        let results = content.into_iter().zip(&ids).map(|(block, id)| match block {
            Block::ToolResult { tool_use_id, content, is_error } if tool_use_id == *id => {
                Ok(ResultText { text: content, is_error })
            }
            Block::ToolResult { tool_use_id, .. } => {
                Err(format!("has a result of the call `{tool_use_id}` in the place of that of `{id}`"))
            }
            _ => Err(format!("has something else in the place of the result of the call `{id}`")),
        });
        self.results = results.collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// The message, whose blocks of known kinds are whole: what is not would pass for a block of another kind.
fn message(value: Value) -> Result<Message, String> {
    let message: Message = serde_json::from_value(value).map_err(|error| format!("is none: {error}"))?;
    let broken = message.content.iter().find_map(|block| match block {
        Block::Other(value) => {
            let kind = value.get("type").and_then(Value::as_str);
            match kind {
                Some("text" | "tool_use" | "tool_result") | None => Some(kind.unwrap_or("no type").to_owned()),
                Some(_) => None,
            }
        }
        _ => None,
    });
    broken.map_or(Ok(message), |kind| Err(format!("has a block of {kind} that is not whole")))
}

fn words_of(content: Vec<Block>) -> Result<String, String> {
    let texts = content.into_iter().map(|block| match block {
        Block::Text { text } => Ok(text),
        _ => Err("is the task, and holds more than words".to_owned()),
    });
    Ok(texts.collect::<Result<Vec<_>, String>>()?.join("\n"))
}
