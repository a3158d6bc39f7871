//! Stand-ins for the three parties of a run: a model whose turns are data, tools that do what their
//! names say, and a sandbox that understands four words.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::ToolError;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::toolbox::ToolServer;
use crate::model::types::{Block, Message, Model, ModelError, ModelReply, ModelRequest, Retry, StopReason, Usage};
use crate::plugin::CallOutcome;
use crate::sandbox::{Bridge, BridgeError, Captured, Sandbox, SandboxError, Script, ScriptEnd, ScriptOutcome};

/// What a model was asked.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) system: String,
    pub(super) tools: Vec<String>,
    pub(super) messages: Vec<Message>,
    pub(super) max_tokens: u32,
    pub(super) parallel_calls: bool,
    pub(super) is_timed: bool,
}

/// Says what it was given, turn by turn, and then waits for ever.
struct ScriptedModel {
    turns: VecDeque<Result<ModelReply, ModelError>>,
    heard: Arc<Mutex<Vec<Request>>>,
}

/// A scripted model, and what it will have been asked.
pub(super) fn scripted(turns: Vec<Result<ModelReply, ModelError>>) -> (Box<dyn Model>, Arc<Mutex<Vec<Request>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    (Box::new(ScriptedModel { turns: turns.into(), heard: Arc::clone(&heard) }), heard)
}

#[async_trait]
impl Model for ScriptedModel {
    async fn reply(&mut self, request: ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        self.heard.lock().unwrap().push(Request {
            system: request.system.to_owned(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            messages: request.messages.to_vec(),
            max_tokens: request.max_tokens,
            parallel_calls: request.parallel_calls,
            is_timed: request.until.is_some(),
        });
        match self.turns.pop_front() {
            Some(turn) => turn,
            None => std::future::pending().await,
        }
    }

    /// As if each answer had taken two tries.
    fn take_retries(&mut self) -> Vec<Retry> {
        vec![Retry { cause: "status 529: overloaded".to_owned(), wait_seconds: 0.5 }]
    }
}

/// A turn that reads 100 tokens, of them 20 from a cache, and writes 10.
pub(super) fn turn(content: Vec<Block>, stop_reason: StopReason) -> Result<ModelReply, ModelError> {
    let usage =
        Usage { input_tokens: 70, output_tokens: 10, cache_read_tokens: 20, cache_write_tokens: 10, estimated: false };
    Ok(ModelReply { content, stop_reason, stop_detail: None, usage, cost: None, container: None })
}

/// A turn of calls, whose ids are their places.
pub(super) fn calls(calls: &[(&str, Value)]) -> Result<ModelReply, ModelError> {
    turn(blocks(calls), StopReason::ToolUse)
}

pub(super) fn blocks(calls: &[(&str, Value)]) -> Vec<Block> {
    let block = |(place, (name, input)): (usize, &(&str, Value))| Block::ToolUse {
        id: format!("id{place}"),
        name: (*name).to_owned(),
        input: input.clone(),
        caller: None,
    };
    calls.iter().enumerate().map(block).collect()
}

/// A turn of words alone, the last one.
pub(super) fn words(text: &str) -> Result<ModelReply, ModelError> {
    turn(vec![Block::Text { text: text.to_owned() }], StopReason::EndTurn)
}

/// A turn that runs one script.
pub(super) fn script(code: &str) -> Result<ModelReply, ModelError> {
    calls(&[("run_python", json!({ "code": code }))])
}

/// Tools named after what they do. `first` waits until `second` was called.
struct FakeTools {
    specs: Vec<ToolSpec>,
    second: Notify,
}

/// The fake tools.
pub(super) fn fake_tools() -> Arc<dyn ToolServer> {
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does."),
        input_schema: json!({"type": "object", "properties": {}, "required": []}),
    };
    let names = ["echo", "refuse", "crash", "time_out", "hang", "first", "second"];
    Arc::new(FakeTools { specs: names.map(spec).to_vec(), second: Notify::new() })
}

#[async_trait]
impl ToolServer for FakeTools {
    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Bytes) -> CallOutcome {
        match tool {
            "refuse" => return CallOutcome::ToolError(ToolError::new("no object 7").with_help("ask for another")),
            "crash" => return CallOutcome::Crashed("exit status 3".to_owned()),
            "time_out" => return CallOutcome::TimedOut(60),
            "hang" => std::future::pending().await,
            "first" => self.second.notified().await,
            "second" => self.second.notify_one(),
            _ => {}
        }
        CallOutcome::Answer(arguments)
    }
}

/// Understands `call NAME ARGUMENTS`, `print TEXT`, `exit CODE`, and `killed NAME`, which dies at its
/// time limit while a call is under way.
pub(super) struct FakeSandbox;

#[async_trait]
impl Sandbox for FakeSandbox {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn of_run(self: Arc<Self>) -> Arc<dyn Sandbox> {
        self
    }

    fn session(self: Arc<Self>) -> Arc<dyn Sandbox> {
        self
    }

    async fn run(&self, script: &Script<'_>, bridge: &dyn Bridge) -> Result<ScriptOutcome, SandboxError> {
        let mut stdout = String::new();
        let mut end = ScriptEnd::Exit(0);
        for line in script.source.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "print" => stdout.push_str(&format!("{rest}\n")),
                "exit" => end = ScriptEnd::Exit(rest.parse().unwrap()),
                "call" => {
                    let (tool, arguments) = rest.split_once(' ').unwrap();
                    match bridge.call(tool, Bytes::copy_from_slice(arguments.as_bytes())).await {
                        Ok(_) => {}
                        Err(BridgeError::Tool(text)) => stdout.push_str(&format!("ToolError: {text}\n")),
                        Err(BridgeError::Stop(text)) => end = ScriptEnd::Stopped(text),
                    }
                }
                "killed" => {
                    let mut call = bridge.call(rest, Bytes::from_static(b"{}"));
                    assert!(futures::poll!(&mut call).is_pending());
                    end = ScriptEnd::TimedOut;
                }
                _ => return Err(SandboxError::Start { sandbox: "fake", reason: format!("no word {word}").into() }),
            }
            if end != ScriptEnd::Exit(0) {
                break;
            }
        }
        let stdout = Captured { text: stdout, dropped: 0 };
        Ok(ScriptOutcome { end, stdout, stderr: Captured::default(), time: Duration::from_secs(2) })
    }
}
