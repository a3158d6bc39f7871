//! The sandbox `embedded`: RustPython in a locked-down child process of the workbench's own binary.
//!
//! The host keeps time, memory and output, and answers tool calls, many at once. The child has an
//! interpreter, a link and nothing else.

mod child;
mod output;
mod script_run;
mod session;
pub mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Mutex;

use self::child::{START_LIMIT, Worker, failed_start};
use self::script_run::Interpreter;
use self::session::Session;
use super::{Bridge, Sandbox, SandboxError, Script, ScriptOutcome};
use crate::death::Death;

pub use self::child::SUBCOMMAND;

/// What `run.json` and messages call this sandbox.
const NAME: &str = "embedded";

/// How the embedded sandbox starts its children.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedSettings {
    /// The workbench's binary; `None`: the running one. Tests name it.
    pub program: Option<PathBuf>,
}

/// Runs scripts in child processes, each in a fresh interpreter.
#[derive(Default)]
pub struct Embedded {
    settings: EmbeddedSettings,
    /// At most one booted child that waits for a script.
    spare: Mutex<Option<Worker>>,
}

impl Embedded {
    /// A sandbox; nothing is started yet.
    pub fn new(settings: EmbeddedSettings) -> Self {
        Self { settings, spare: Mutex::new(None) }
    }

    /// The child that waits, or a new one.
    async fn worker(&self) -> Result<Worker, SandboxError> {
        let spare = self.spare.lock().await.take();
        match spare.and_then(Worker::if_alive) {
            Some(worker) => Ok(worker),
            None => self.boot().await,
        }
    }

    async fn boot(&self) -> Result<Worker, SandboxError> {
        let program = match &self.settings.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(|error| failed_start(error.to_string()))?,
        };
        match Worker::boot(&program, START_LIMIT).await {
            Err(SandboxError::Start { reason: Death::Killed, .. }) => Worker::boot(&program, START_LIMIT).await,
            booted => booted,
        }
    }
}

#[async_trait]
impl Sandbox for Embedded {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, script: &Script<'_>, bridge: &dyn Bridge) -> Result<ScriptOutcome, SandboxError> {
        let worker = self.worker().await?;
        let (outcome, _) = Interpreter::of(worker).run(script, false, bridge).await?;
        Ok(outcome)
    }

    fn of_run(self: Arc<Self>) -> Arc<dyn Sandbox> {
        self
    }

    fn session(self: Arc<Self>) -> Arc<dyn Sandbox> {
        Arc::new(Session::over(self))
    }

    /// Boots the child of the next run. A failure is kept for that run to meet again.
    async fn prepare(&self) {
        let mut spare = self.spare.lock().await;
        *spare = match spare.take().and_then(Worker::if_alive) {
            Some(worker) => Some(worker),
            None => self.boot().await.ok(),
        };
    }
}
