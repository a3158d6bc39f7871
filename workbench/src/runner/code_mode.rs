//! Mode `code`: the model writes scripts, scripts call the tools, and only what they print is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::RunError;
use super::ledger::Caller;
use super::mode_tools::{Answer, Asked, ModeTools, malformed};
use super::prompts::{self, RUN_PYTHON};
use super::toolbox::Toolbox;
use crate::domain::manifest::Limits;
use crate::events::{Event, Listener, RunKey};
use crate::model::types::ToolDefinition;
use crate::results::store::RunFolder;
use crate::sandbox::{SCRIPT_FILE, Sandbox, Script, ScriptEnd, ScriptLimits, ToolForm};

/// Bytes of each stream that are kept in the run's folder; the model reads far less.
const KEPT_OUTPUT: usize = 1024 * 1024;

/// How the scripts come from the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptForm {
    /// As calls of one tool.
    #[default]
    ToolCall,
    /// As fenced blocks in its words, with no tool on offer.
    FencedBlock,
}

/// What ends a script under these limits.
pub fn script_limits(limits: &Limits) -> ScriptLimits {
    ScriptLimits {
        time: Duration::from_secs(limits.script_seconds),
        memory: limits.script_memory_mb.saturating_mul(1024 * 1024),
        output_bytes: KEPT_OUTPUT,
    }
}

/// Has the sandbox get ready for the next script while the model thinks.
pub(super) fn prepare(sandbox: &Arc<dyn Sandbox>) {
    let sandbox = Arc::clone(sandbox);
    tokio::spawn(async move { sandbox.prepare().await });
}

/// Runs scripts, which come as calls of the one tool it offers.
pub(super) struct CodeTools {
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) sandbox: Arc<dyn Sandbox>,
    pub(super) folder: Arc<RunFolder>,
    pub(super) limits: Limits,
    pub(super) key: RunKey,
    pub(super) listener: Listener,
    pub(super) scripts: AtomicU32,
}

#[async_trait]
impl ModeTools for CodeTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![prompts::run_python(self.limits.output_chars)]
    }

    /// Scripts of one turn run one after another: a later one may use files of an earlier one.
    async fn answer(&self, turn: u32, calls: &[Asked]) -> Result<Vec<Answer>, RunError> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            answers.push(match (call.name.as_str(), call.input.get("code")) {
                (RUN_PYTHON, Some(Value::String(source))) => self.run(turn, source).await?,
                (RUN_PYTHON, _) => {
                    let malformed = malformed(&call.input).filter(|_| call.input.is_string());
                    Answer::failure(malformed.as_deref().unwrap_or(prompts::NO_CODE))
                }
                (other, _) => Answer::failure(&prompts::unknown_tool(other, [RUN_PYTHON])),
            });
        }
        Ok(answers)
    }

    fn scripts_run(&self) -> u32 {
        self.scripts.load(Ordering::Relaxed)
    }
}

impl CodeTools {
    async fn run(&self, turn: u32, source: &str) -> Result<Answer, RunError> {
        let number = self.scripts.fetch_add(1, Ordering::Relaxed) + 1;
        self.folder.save_script(number, source)?;
        self.listener.emit(Event::ScriptStarted(self.key.clone(), number));
        let script = Script {
            source,
            file: SCRIPT_FILE,
            tools: self.toolbox.tools(),
            domain: &self.key.domain,
            announce_waiting: false,
            form: ToolForm::Functions,
            limits: script_limits(&self.limits),
        };
        let bridge = self.toolbox.bridge(Caller { turn, script: Some(number) }, ToolForm::Functions);
        let mut outcome = self.sandbox.run(&script, &bridge).await?;
        if outcome.end == ScriptEnd::Killed {
            // As a call whose plugin died: a second try, and only then is it the script's own end.
            outcome = self.sandbox.run(&script, &bridge).await?;
        }
        prepare(&self.sandbox);
        self.folder.save_output(number, &outcome.reply(usize::MAX))?;
        self.listener.emit(Event::ScriptEnded(self.key.clone(), number));
        Ok(Answer::good(outcome.reply(self.limits.output_chars)))
    }
}
