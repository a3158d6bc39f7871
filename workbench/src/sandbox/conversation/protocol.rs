//! What host and script worker say to each other.

use serde::{Deserialize, Serialize};

use crate::sandbox::{Script, ToolForm, stubs};

/// Longest arguments of a call, in bytes of JSON: the longest body a worker sends. More is a mistake,
/// and would be copied several times on its way.
pub(in crate::sandbox) const MAX_ARGUMENTS: usize = 16 * 1024 * 1024;

/// Longest name of a tool in bytes: the head of a frame has room for it however it is escaped, and a ledger for the names
/// of many calls.
pub(in crate::sandbox) const MAX_NAME: usize = 1000;

/// Processor seconds of an interpreter that goes on: no session lives as long.
const SESSION_SECONDS: u64 = 7 * 24 * 60 * 60;

/// From the host to the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::sandbox) enum ToWorker {
    /// Run a script; the body is a [`Job`] as JSON. Sent once, unless the last job kept its state.
    Run,
    /// The answer to a call. Body: JSON, or the text of the failure.
    Answer {
        /// From [`ToHost::Call`].
        id: u64,
        /// Whether the tool answered.
        ok: bool,
    },
}

/// From the worker to the host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::sandbox) enum ToHost {
    /// The interpreter is up and waits for [`ToWorker::Run`].
    Ready,
    /// A script begins. What was said before is of the one before, and is not heard any more.
    Started {
        /// [`Job::number`].
        job: u64,
    },
    /// A tool call; the body is its arguments, a JSON object.
    Call {
        /// Names the call in its answer.
        id: u64,
        /// The tool.
        tool: String,
    },
    /// Every task waits for answers.
    Waiting,
    /// The script is over and its output is written.
    End {
        /// As a process would exit.
        code: i32,
        /// Whether an uncaught `MemoryError` ended it.
        out_of_memory: bool,
    },
}

/// What a script worker is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Job {
    /// Counts the jobs of a link, from 1.
    pub(in crate::sandbox) number: u64,
    /// The script.
    pub(in crate::sandbox) source: String,
    /// What tracebacks call it.
    pub(in crate::sandbox) file: String,
    /// Source of the tools, made by [`crate::sandbox::stubs`].
    pub(in crate::sandbox) tools_module: String,
    /// The other name of the module `tools`, which tells whose tools these are; nothing where they are among the script's own
    /// names and there is no such module.
    pub(in crate::sandbox) domain_module: Option<String>,
    /// Whether [`ToHost::Waiting`] is wanted.
    pub(in crate::sandbox) announce_waiting: bool,
    /// Whether the interpreter goes on, and later scripts find the names of this one.
    #[serde(default)]
    pub(in crate::sandbox) keep_state: bool,
    /// Memory in bytes that the script's data may take.
    pub(in crate::sandbox) memory: u64,
    /// Processor seconds, a second line of defence behind the host's clock.
    pub(in crate::sandbox) cpu_seconds: u64,
}

impl Job {
    /// What is to be done, as the link's job of this number, for a script whose data may take `memory` bytes.
    pub(in crate::sandbox) fn of(number: u64, script: &Script<'_>, keep_state: bool, memory: u64) -> Self {
        Self {
            number,
            source: script.source.to_owned(),
            file: script.file.to_owned(),
            tools_module: match script.form {
                ToolForm::Functions => stubs::module_source(script.tools),
                ToolForm::Coroutines => stubs::coroutine_source(script.tools),
            },
            domain_module: match script.form {
                ToolForm::Functions => Some(stubs::domain_module(script.domain)),
                ToolForm::Coroutines => None,
            },
            announce_waiting: script.announce_waiting,
            keep_state,
            memory,
            cpu_seconds: match keep_state {
                true => SESSION_SECONDS,
                false => script.limits.time.as_secs().saturating_add(5),
            },
        }
    }
}
