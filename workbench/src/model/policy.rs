//! A policy script: it calls tools, and its calls become turns of a conversation.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::types::Block;
use crate::sandbox::paused::{OpenCall, Pause, PausedScript, PausingScript};
use crate::sandbox::{BridgeError, Sandbox, ScriptLimits, ScriptOutcome, ToolForm};

/// What a policy needs to start.
pub(super) struct PolicyScript {
    /// Python source.
    pub(super) source: String,
    /// What tracebacks call it.
    pub(super) file: String,
    /// Name of the domain.
    pub(super) domain: String,
    /// Where it runs.
    pub(super) sandbox: Arc<dyn Sandbox>,
    /// What ends it.
    pub(super) limits: ScriptLimits,
    /// How long it may compute between two calls.
    pub(super) patience: Duration,
}

/// A policy under way. A run that ends early takes its script with it.
pub(super) struct Policy {
    script: PausedScript,
    patience: Duration,
    /// Asked for by the script, not yet by the model.
    queued: VecDeque<OpenCall>,
    /// Asked for by the model, not yet answered, by id.
    open: HashMap<String, OpenCall>,
    /// Calls the model asked for so far; numbers their ids.
    asked: u64,
}

/// What a policy does next.
pub(super) enum Step {
    /// It wants these calls answered: blocks of kind `tool_use`.
    Calls(Vec<Block>),
    /// It ended.
    Ended(ScriptOutcome),
}

impl Policy {
    /// Starts the script; it runs to its first calls by itself.
    pub(super) fn start(script: &PolicyScript, tools: Vec<ToolSpec>) -> Self {
        let paused = PausedScript::start(PausingScript {
            source: script.source.clone(),
            file: script.file.clone(),
            tools: tools.into(),
            form: ToolForm::Functions,
            domain: script.domain.clone(),
            sandbox: Arc::clone(&script.sandbox),
            limits: script.limits,
        });
        let (queued, open) = (VecDeque::new(), HashMap::new());
        Self { script: paused, patience: script.patience, queued, open, asked: 0 }
    }

    /// Hands results of the conversation to the calls they answer.
    pub(super) fn answer(&mut self, results: &[Block]) {
        for block in results {
            let Block::ToolResult { tool_use_id, content, is_error } = block else { continue };
            if let Some(waiting) = self.open.remove(tool_use_id) {
                waiting.answer(as_answer(content, *is_error));
            }
        }
    }

    /// Waits until the script waits for calls, or ended. With `one_call`, a step has one call and the
    /// others stay queued.
    pub(super) async fn next(&mut self, one_call: bool) -> Result<Step, String> {
        if self.queued.is_empty() {
            let Ok(pause) = timeout(self.patience, self.script.next()).await else {
                return Err(format!("it neither called a tool nor ended within {} s", self.patience.as_secs()));
            };
            match pause.map_err(|error| error.to_string())? {
                Pause::Calls(calls) => self.queued.extend(calls),
                Pause::Ended(outcome) => return Ok(Step::Ended(outcome)),
            }
        }
        let wanted = if one_call { 1 } else { self.queued.len() };
        Ok(Step::Calls(self.take_calls(wanted)))
    }

    fn take_calls(&mut self, wanted: usize) -> Vec<Block> {
        let taken: Vec<OpenCall> = self.queued.drain(..wanted).collect();
        let blocks = taken.into_iter().map(|call| {
            self.asked += 1;
            let id = format!("call_{}", self.asked);
            let block =
                Block::ToolUse { id: id.clone(), name: call.tool.clone(), input: call.arguments(), caller: None };
            self.open.insert(id, call);
            block
        });
        blocks.collect()
    }
}

/// What a script gets for a result: JSON as it stands, any other text as a JSON string.
fn as_answer(content: &str, is_error: bool) -> Result<Bytes, BridgeError> {
    if is_error {
        return Err(BridgeError::Tool(content.strip_prefix("ERROR: ").unwrap_or(content).to_owned()));
    }
    if serde_json::from_str::<&RawValue>(content).is_ok() {
        return Ok(Bytes::copy_from_slice(content.as_bytes()));
    }
    Ok(Bytes::from(Value::String(content.to_owned()).to_string()))
}
