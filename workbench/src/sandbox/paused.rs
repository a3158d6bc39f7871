//! A script turned inside out: instead of a bridge that answers its calls, somebody who takes them one pause after the
//! other and answers when they like.
//!
//! The script runs in a sandbox on a task of its own. Each call waits until it is answered; when everything in the script
//! waits, the calls asked for so far make one pause. A sandbox that announces waits goes on only when all of them are
//! answered, so that equal conversations have equal turns.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{Bridge, BridgeError, Sandbox, SandboxError, Script, ScriptLimits, ScriptOutcome, ToolForm};

/// A script and where it is to run.
pub struct PausingScript {
    /// Python source.
    pub source: String,
    /// What tracebacks call it.
    pub file: String,
    /// Tools it may call.
    pub tools: Arc<[ToolSpec]>,
    /// How it finds them.
    pub form: ToolForm,
    /// Name of the domain.
    pub domain: String,
    /// Where it runs.
    pub sandbox: Arc<dyn Sandbox>,
    /// What ends it.
    pub limits: ScriptLimits,
}

/// A script under way. Dropping it ends the script.
pub struct PausedScript {
    events: mpsc::UnboundedReceiver<Event>,
    task: JoinHandle<()>,
    /// Asked for since the last pause.
    asked: Vec<OpenCall>,
}

/// Where a script stands.
pub enum Pause {
    /// It waits for these calls, and for those of earlier pauses that have no answer yet.
    Calls(Vec<OpenCall>),
    /// It ended.
    Ended(ScriptOutcome),
}

/// A call that a script waits for. Dropped, it stops the script.
pub struct OpenCall {
    /// Name of the tool, as the script has it.
    pub tool: String,
    arguments: Bytes,
    answer: oneshot::Sender<Answer>,
}

type Answer = Result<Bytes, BridgeError>;

enum Event {
    Call(OpenCall),
    Waiting,
    Ended(Result<ScriptOutcome, SandboxError>),
}

impl OpenCall {
    /// The arguments; what is no JSON is a text.
    pub fn arguments(&self) -> Value {
        serde_json::from_slice(&self.arguments)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.arguments).into_owned()))
    }

    /// Answers it: JSON, or why not. A script that ended meanwhile takes no answer; its end is the next event.
    pub fn answer(self, answer: Result<Bytes, BridgeError>) {
        let _gone = self.answer.send(answer);
    }
}

impl PausedScript {
    /// Starts the script; it runs to its first calls by itself.
    pub fn start(script: PausingScript) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let names = script.tools.iter().map(|tool| tool.name.clone()).collect();
            let bridge = PausingBridge { events: sender, names, form: script.form };
            let run = Script {
                source: &script.source,
                file: &script.file,
                tools: &script.tools,
                domain: &script.domain,
                form: script.form,
                announce_waiting: true,
                limits: script.limits,
            };
            let outcome = script.sandbox.run(&run, &bridge).await;
            bridge.tell(Event::Ended(outcome));
        });
        Self { events, task, asked: Vec::new() }
    }

    /// Waits until the script waits for calls, or ended. May be given up and asked again: nothing is lost.
    ///
    /// # Errors
    /// When its sandbox does not start.
    pub async fn next(&mut self) -> Result<Pause, SandboxError> {
        loop {
            match self.events.recv().await {
                Some(Event::Call(call)) => self.asked.push(call),
                Some(Event::Waiting) if self.asked.is_empty() => {}
                Some(Event::Waiting) => return Ok(Pause::Calls(std::mem::take(&mut self.asked))),
                Some(Event::Ended(outcome)) => return outcome.map(Pause::Ended),
                None => {
                    let reason = "its task ended without a word".into();
                    return Err(SandboxError::Start { sandbox: "script's", reason });
                }
            }
        }
    }
}

impl Drop for PausedScript {
    /// Whoever ends early takes the script along.
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct PausingBridge {
    events: mpsc::UnboundedSender<Event>,
    /// Of the tools that there are.
    names: HashSet<String>,
    form: ToolForm,
}

impl PausingBridge {
    /// Nobody listens any more when the conversation ended early; then nobody needs to know.
    fn tell(&self, event: Event) {
        let _ended = self.events.send(event);
    }
}

#[async_trait]
impl Bridge for PausingBridge {
    async fn call(&self, tool: &str, arguments: Bytes) -> Answer {
        // A cell may have kept the function of a tool that is there no more, and a call may be forged. Of a script that plays a model
        // such a call is the model's, and whoever serves that tells it.
        if self.form == ToolForm::Coroutines && !self.names.contains(tool) {
            let mut names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
            names.sort();
            let there_are = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            // A text, as all that is refused in this form.
            let text = format!("ERROR: there is no tool `{tool}` for this script; there are {there_are}");
            return Ok(Value::from(text).to_string().into());
        }
        let (answer, answered) = oneshot::channel();
        self.tell(Event::Call(OpenCall { tool: tool.to_owned(), arguments, answer }));
        answered.await.unwrap_or_else(|_| Err(BridgeError::Stop("the conversation ended".to_owned())))
    }

    async fn waiting(&self) {
        self.tell(Event::Waiting);
    }
}
