//! A cell of code on its way: its calls become `tool_use` blocks, its end a result block.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::tools::CALLER;
use super::{Limits, identifier};
use crate::death::Death;
use crate::sandbox::paused::{OpenCall, Pause, PausedScript, PausingScript};
use crate::sandbox::session::FORGOTTEN;
use crate::sandbox::{BridgeError, SCRIPT_FILE, Sandbox, ScriptEnd, ScriptLimits, ScriptOutcome, ToolForm};

/// Bytes of each stream of a cell that a result has, the last ones.
const OUTPUT: usize = 256 * 1024;

/// The exit status of a cell that was ended for its time, as `timeout` has it.
const TIMED_OUT: i32 = 124;
/// That of one that was ended for its memory, as a shell tells of a kill.
const KILLED: i32 = 137;

/// A cell the model wrote.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// Of its `server_tool_use` block.
    pub(super) id: String,
    /// Nothing when what the model wrote has none.
    pub(super) code: Option<String>,
}

/// A cell under way, and those that come after it.
pub(super) struct PausedTurn {
    pub(super) cell: String,
    pub(super) later: VecDeque<Cell>,
    script: PausedScript,
    /// What it may call.
    tools: Arc<[ToolSpec]>,
    /// Calls that were asked for, by the id of their `tool_use` block.
    waiting: HashMap<String, OpenCall>,
    /// Ids of calls whose time was over; their answers come too late.
    late: HashSet<String>,
    timed_out: Vec<String>,
    /// When its calls time out.
    pub(super) waits_until: Instant,
}

/// What a cell came to.
pub(super) enum Step {
    /// It waits for these `tool_use` blocks.
    Calls(Vec<Value>),
    /// It ended, with this content of its result block.
    Ended(Value),
    /// Its interpreter did not come up, or died, for this reason; the content says as much as the provider would.
    Broken { content: Value, cause: String },
}

impl PausedTurn {
    /// Starts a cell in a session.
    pub(super) fn start(
        cell: String,
        code: String,
        later: VecDeque<Cell>,
        tools: Arc<[ToolSpec]>,
        session: &Arc<dyn Sandbox>,
        limits: Limits,
    ) -> Self {
        let script = PausedScript::start(PausingScript {
            source: code,
            file: SCRIPT_FILE.to_owned(),
            tools: Arc::clone(&tools),
            form: ToolForm::Coroutines,
            domain: "hosted".to_owned(),
            sandbox: Arc::clone(session),
            limits: ScriptLimits { time: limits.cell, memory: limits.memory, output_bytes: OUTPUT },
        });
        let (waiting, late, timed_out) = (HashMap::new(), HashSet::new(), Vec::new());
        Self { cell, later, script, tools, waiting, late, timed_out, waits_until: Instant::now() }
    }

    /// Runs it to its next calls or its end.
    pub(super) async fn step(&mut self, limits: Limits) -> Step {
        match self.script.next().await {
            Ok(Pause::Calls(calls)) => Step::Calls(calls.into_iter().map(|call| self.ask(call)).collect()),
            Ok(Pause::Ended(outcome)) => self.ended(outcome, limits),
            Err(error) => Step::broken(error.to_string()),
        }
    }

    /// A call that waits for its answer.
    pub(super) fn waits_for(&self) -> Option<&str> {
        self.waiting.keys().map(String::as_str).min()
    }

    /// Whether these are the tools it was started with.
    pub(super) fn has_tools(&self, tools: &[ToolSpec]) -> bool {
        *self.tools == *tools
    }

    fn ask(&mut self, call: OpenCall) -> Value {
        let id = identifier("toolu");
        let block = json!({
            "type": "tool_use",
            "id": id,
            "name": call.tool,
            "input": as_input(call.arguments()),
            "caller": { "type": CALLER, "tool_id": self.cell },
        });
        self.waiting.insert(id, call);
        block
    }

    /// Hands answers to the calls they are for: all that wait, or nothing is done.
    pub(super) fn answer(&mut self, answers: &[(String, String)]) -> Result<(), Refusal> {
        let ids: HashSet<&str> = answers.iter().map(|(id, _)| id.as_str()).collect();
        if let Some(unknown) = ids.iter().find(|id| !self.waiting.contains_key(**id) && !self.late.contains(**id)) {
            return Err(Refusal::not_waited_for(unknown));
        }
        let mut missing: Vec<&str> = self.waiting.keys().map(String::as_str).filter(|id| !ids.contains(id)).collect();
        if !missing.is_empty() {
            missing.sort_unstable();
            return Err(Refusal::unanswered(&missing));
        }
        // In the order of the answers, which is that of the calls: code that runs on does so in that order.
        for (id, text) in answers {
            if let Some(call) = self.waiting.remove(id) {
                call.answer(Ok(Bytes::from(Value::from(text.as_str()).to_string())));
            }
        }
        self.late.clear();
        Ok(())
    }

    /// Tells the code that nobody answered its calls.
    pub(super) fn time_out(&mut self, after: Duration) {
        for (id, call) in self.waiting.drain() {
            self.late.insert(id);
            let text = format!("Calling tool ['{}'] timed out (no response after {}s).", call.tool, after.as_secs());
            self.timed_out.push(format!("TimeoutError: {text}"));
            call.answer(Err(BridgeError::Tool(text)));
        }
    }

    fn ended(&self, outcome: ScriptOutcome, limits: Limits) -> Step {
        let ScriptOutcome { end, stdout, stderr, .. } = outcome;
        let mut stderr = stderr.text;
        let code = match end {
            ScriptEnd::Exit(1) if self.timed_out.iter().any(|line| stderr.trim_end().ends_with(line.as_str())) => {
                // As the provider tells of it: the cell is taken to have ended well, and the text is all there is.
                let line = stderr.trim_end().rsplit('\n').next().unwrap_or_default().to_owned();
                stderr = line;
                0
            }
            ScriptEnd::Exit(code) => code,
            ScriptEnd::TimedOut => {
                add(
                    &mut stderr,
                    &format!(
                        "detection_timeout: the cell ran for more than {} s and was ended, {FORGOTTEN}",
                        limits.cell.as_secs_f64()
                    ),
                );
                TIMED_OUT
            }
            ScriptEnd::OutOfMemory => {
                add(
                    &mut stderr,
                    &format!(
                        "MemoryError: the cell took more than {} MB and was ended, {FORGOTTEN}",
                        limits.memory >> 20
                    ),
                );
                KILLED
            }
            ScriptEnd::Stopped(reason) => {
                add(&mut stderr, &format!("the cell was ended, {FORGOTTEN}: {reason}"));
                KILLED
            }
            ScriptEnd::Crashed(cause) => {
                let last = stderr.trim_end().rsplit('\n').next().unwrap_or_default();
                return Step::broken(format!("{cause}; it last wrote `{last}`"));
            }
            ScriptEnd::Killed => return Step::broken(format!("the interpreter was {}", Death::Killed)),
        };
        Step::Ended(json!({
            "type": "code_execution_result",
            "stdout": stdout.text,
            "stderr": stderr,
            "return_code": code,
            "content": [],
        }))
    }
}

impl Step {
    fn broken(cause: String) -> Self {
        Self::Broken { content: no_result("unavailable"), cause }
    }
}

/// The content of the result block of a cell that did not run.
pub(super) fn no_result(error_code: &str) -> Value {
    json!({ "type": "code_execution_tool_result_error", "error_code": error_code })
}

/// The input of a call. What is no object is none; whoever serves the call tells its maker.
pub(super) fn as_input(given: Value) -> Value {
    if given.is_object() { given } else { json!({ "arguments": given }) }
}

/// Adds a line of its own.
fn add(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
}
