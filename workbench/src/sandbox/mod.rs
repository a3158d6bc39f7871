//! Where a script of code mode runs: the trait every sandbox fulfils, and the sandboxes.

mod conversation;
pub mod docker;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod fault;
pub mod paused;
pub mod probe;
mod reply;
pub(crate) mod session;
pub mod stubs;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::death::Death;

/// A place to run scripts in. Each script gets a fresh interpreter, unless the user has chosen one for a whole run.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// `embedded` or `docker`.
    fn name(&self) -> &'static str;

    /// Runs one script to its end, or to a limit. Only a sandbox that cannot start is an error;
    /// whatever the script does is an outcome.
    async fn run(&self, script: &Script<'_>, bridge: &dyn Bridge) -> Result<ScriptOutcome, SandboxError>;

    /// Makes the next [`Sandbox::run`] start sooner. May do nothing.
    async fn prepare(&self) {}

    /// What a user chose of it, by name: runs that differ in it are not pooled.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The same sandbox for one run, which keeps what the scripts of a run share.
    fn of_run(self: Arc<Self>) -> Arc<dyn Sandbox>;

    /// The same sandbox for a session, in which each script finds the names of those before it, as in an interpreter one
    /// types into. A script that is killed takes the session's names with it; where they are gone and no
    /// end from outside says so, a line on standard error does.
    fn session(self: Arc<Self>) -> Arc<dyn Sandbox>;

    /// Waits until nothing is left of what it started. It may be used again.
    async fn close(&self) {}

    /// What is known of it from outside, for [`probe`].
    ///
    /// # Errors
    /// When it cannot be asked.
    async fn inspect(&self) -> Result<Inspection, SandboxError> {
        Ok(Inspection::default())
    }
}

/// What is known of a sandbox from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Names of the variables that its image sets.
    pub image_variables: Vec<String>,
    /// What there is of it; `None` where each run has waited for the end of all that it started.
    pub left: Option<Vec<String>>,
}

/// What tracebacks call a script that a model wrote.
pub const SCRIPT_FILE: &str = "script.py";

/// A script and what it may use.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// Python source.
    pub source: &'a str,
    /// What tracebacks call it: [`SCRIPT_FILE`], or the file that a person can open.
    pub file: &'a str,
    /// The tools it may call; [`stubs`] makes their Python module.
    pub tools: &'a [plugin_api::wire::ToolSpec],
    /// Name of the domain; [`stubs::domain_module`] names its module, which works beside `tools`.
    pub domain: &'a str,
    /// How it finds them.
    pub form: ToolForm,
    /// Whether [`Bridge::waiting`] is to be told, and the time of its waits is not counted. It costs a message for each
    /// wait, so only who turns waits into turns of a conversation asks for it. `docker` can tell of the waits of
    /// [`ToolForm::Coroutines`] alone.
    pub announce_waiting: bool,
    /// What ends it.
    pub limits: ScriptLimits,
}

/// How a script finds the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolForm {
    /// To be imported from `tools`: functions with named arguments, which return plain data.
    #[default]
    Functions,
    /// Among its own names: coroutine functions that take one dict and return a text, as in the sandbox of a provider
    /// that offers programmatic tool calling.
    Coroutines,
}

/// What ends a script from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Wall time, waiting for tool calls included unless waits are announced.
    pub time: Duration,
    /// Memory in bytes the script may take: beyond what the idle interpreter has, or, in a container, with it.
    pub memory: u64,
    /// Bytes of output kept of each stream, counted from its end.
    pub output_bytes: usize,
}

/// The host's side of a script's tool calls. Many may be under way at once.
#[async_trait]
pub trait Bridge: Send + Sync {
    /// Runs one tool. `arguments` is a JSON object; the answer is JSON. An error is the text a
    /// script reads from its `ToolError`.
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError>;

    /// Admits a call as soon as the script asks for it, in the order in which it asks; the future makes it, which may
    /// be later: when there is room for its answer. A budget is best taken here.
    ///
    /// # Errors
    /// When the call is not admitted: [`BridgeError::Stop`] ends the script before its earlier calls have ended.
    fn admit(&self, tool: String, arguments: Bytes) -> Result<AdmittedCall<'_>, BridgeError> {
        Ok(Box::pin(async move { self.call(&tool, arguments).await }))
    }

    /// Keeps a file that the script left where it ran, under a safe form of `name`. An error says why not.
    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        let _ = (name, content);
        Err("no file is kept here".to_owned())
    }

    /// Every task of the script waits for tool calls: nothing further will be asked until one is answered.
    async fn waiting(&self) {}
}

/// A call that was admitted. Dropped before its end, it is abandoned.
pub type AdmittedCall<'a> = Pin<Box<dyn Future<Output = Result<Bytes, BridgeError>> + Send + 'a>>;

/// Why a script gets no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BridgeError {
    /// The script reads it as `ToolError`.
    Tool(String),
    /// The script is stopped: a budget is used up. The text says which.
    Stop(String),
}

/// How a script ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptOutcome {
    /// How it ended.
    pub end: ScriptEnd,
    /// The last bytes of its standard output, as text.
    pub stdout: Captured,
    /// The same of its standard error, tracebacks included.
    pub stderr: Captured,
    /// Wall time.
    pub time: Duration,
}

/// One stream of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The last part, at most `output_bytes` long.
    pub text: String,
    /// Bytes that were dropped before it.
    pub dropped: u64,
}

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptEnd {
    /// By itself; 0 is success, 1 an uncaught exception, anything else `sys.exit(n)`.
    Exit(i32),
    /// Killed at its time limit.
    TimedOut,
    /// Killed, or died, at its memory limit.
    OutOfMemory,
    /// Stopped by the host; the text says why.
    Stopped(String),
    /// Its interpreter died; the text names the cause.
    Crashed(String),
    /// Its interpreter was killed by somebody else, perhaps the system for lack of memory.
    Killed,
}

impl ScriptEnd {
    /// Whether the script ended by itself and well.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exit(0))
    }
}

/// Why a sandbox could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The child process could not be started or spoke garbage.
    #[error("the {sandbox} sandbox could not start: {reason}")]
    Start {
        /// Which sandbox.
        sandbox: &'static str,
        /// What happened.
        reason: Death,
    },
    /// No engine for containers, or no image.
    #[error(transparent)]
    Unavailable(#[from] docker::availability::Unavailable),
}

impl SandboxError {
    /// One way on, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Start { sandbox: docker::NAME, .. } => {
                Some("`workbench sandbox status` tells of the engine, its image and its runtimes".to_owned())
            }
            Self::Start { .. } => None,
            Self::Unavailable(error) => Some(error.hint()),
        }
    }
}
