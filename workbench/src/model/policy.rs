//! A policy script, turned inside out: it calls tools, and its calls become turns of a conversation.
//!
//! The script runs in a sandbox on a task of its own. Each call waits until the conversation brings
//! its answer; when everything in the script waits, the calls asked for so far make one turn. A
//! sandbox that announces waits goes on only when all of them are answered, so that equal runs have
//! equal turns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::types::Block;
use crate::sandbox::{Bridge, BridgeError, Sandbox, SandboxError, Script, ScriptLimits, ScriptOutcome};

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

/// A policy under way.
pub(super) struct Policy {
    events: mpsc::UnboundedReceiver<Event>,
    patience: Duration,
    task: JoinHandle<()>,
    /// Asked for by the script, not yet by the model.
    queued: VecDeque<OpenCall>,
    /// Asked for by the model, not yet answered, by id.
    open: HashMap<String, AnswerSender>,
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

type Answer = Result<Bytes, BridgeError>;
type AnswerSender = oneshot::Sender<Answer>;

enum Event {
    Call(OpenCall),
    Waiting,
    Ended(Result<ScriptOutcome, SandboxError>),
}

struct OpenCall {
    tool: String,
    arguments: Bytes,
    answer: AnswerSender,
}

impl Policy {
    /// Starts the script; it runs to its first calls by itself.
    pub(super) fn start(script: &Arc<PolicyScript>, tools: Vec<ToolSpec>) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let script = Arc::clone(script);
        let patience = script.patience;
        let task = tokio::spawn(async move {
            let bridge = PolicyBridge { events: sender };
            let run = Script {
                source: &script.source,
                file: &script.file,
                tools: &tools,
                domain: &script.domain,
                announce_waiting: true,
                limits: script.limits,
            };
            let outcome = script.sandbox.run(&run, &bridge).await;
            bridge.tell(Event::Ended(outcome));
        });
        Self { events, patience, task, queued: VecDeque::new(), open: HashMap::new(), asked: 0 }
    }

    /// Hands results of the conversation to the calls they answer.
    pub(super) fn answer(&mut self, results: &[Block]) {
        for block in results {
            let Block::ToolResult { tool_use_id, content, is_error } = block else { continue };
            if let Some(waiting) = self.open.remove(tool_use_id) {
                // A script that ended meanwhile takes no answer; its end is the next event.
                let _gone = waiting.send(as_answer(content, *is_error));
            }
        }
    }

    /// Waits until the script waits for calls, or ended. With `one_call`, a step has one call and the
    /// others stay queued.
    pub(super) async fn next(&mut self, one_call: bool) -> Result<Step, String> {
        let mut waits = !self.queued.is_empty();
        while !waits {
            let Ok(event) = timeout(self.patience, self.events.recv()).await else {
                return Err(format!("it neither called a tool nor ended within {} s", self.patience.as_secs()));
            };
            match event {
                Some(Event::Call(call)) => self.queued.push_back(call),
                Some(Event::Waiting) => waits = !self.queued.is_empty(),
                Some(Event::Ended(outcome)) => return outcome.map(Step::Ended).map_err(|error| error.to_string()),
                None => return Err("its sandbox went away".to_owned()),
            }
        }
        let wanted = if one_call { 1 } else { self.queued.len() };
        Ok(Step::Calls(self.take_calls(wanted)))
    }

    fn take_calls(&mut self, wanted: usize) -> Vec<Block> {
        let taken: Vec<OpenCall> = self.queued.drain(..wanted).collect();
        let blocks = taken.into_iter().map(|call| {
            let input = serde_json::from_slice(&call.arguments)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&call.arguments).into_owned()));
            self.asked += 1;
            let id = format!("call_{}", self.asked);
            self.open.insert(id.clone(), call.answer);
            Block::ToolUse { id, name: call.tool, input }
        });
        blocks.collect()
    }
}

impl Drop for Policy {
    /// A run that ends early takes its script with it.
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a script gets for a result: JSON as it stands, any other text as a JSON string.
fn as_answer(content: &str, is_error: bool) -> Answer {
    if is_error {
        return Err(BridgeError::Tool(content.strip_prefix("ERROR: ").unwrap_or(content).to_owned()));
    }
    if serde_json::from_str::<&RawValue>(content).is_ok() {
        return Ok(Bytes::copy_from_slice(content.as_bytes()));
    }
    Ok(Bytes::from(Value::String(content.to_owned()).to_string()))
}

struct PolicyBridge {
    events: mpsc::UnboundedSender<Event>,
}

impl PolicyBridge {
    /// Nobody listens any more when the run ended early; then nobody needs to know.
    fn tell(&self, event: Event) {
        let _ended = self.events.send(event);
    }
}

#[async_trait]
impl Bridge for PolicyBridge {
    async fn call(&self, tool: &str, arguments: Bytes) -> Answer {
        let (answer, answered) = oneshot::channel();
        self.tell(Event::Call(OpenCall { tool: tool.to_owned(), arguments, answer }));
        answered.await.unwrap_or_else(|_| Err(BridgeError::Stop("the run ended".to_owned())))
    }

    async fn waiting(&self) {
        self.tell(Event::Waiting);
    }
}
