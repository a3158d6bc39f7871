//! One interpreter for the scripts of a session, whose names later ones find again.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::script_run::Interpreter;
use super::{Embedded, NAME};
use crate::sandbox::session::Names;
use crate::sandbox::{Bridge, Sandbox, SandboxError, Script, ScriptOutcome};

/// A session of its own in children of the sandbox. Its memory limit is that of its first script.
pub(super) struct Session {
    sandbox: Arc<Embedded>,
    interpreter: Mutex<Option<Interpreter>>,
    names: Names,
}

impl Session {
    pub(super) fn over(sandbox: Arc<Embedded>) -> Self {
        Self { sandbox, interpreter: Mutex::new(None), names: Names::default() }
    }
}

#[async_trait]
impl Sandbox for Session {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, script: &Script<'_>, bridge: &dyn Bridge) -> Result<ScriptOutcome, SandboxError> {
        // Held to the script's end: one after the other.
        let mut kept = self.interpreter.lock().await;
        let (interpreter, is_new) = match kept.take().and_then(Interpreter::if_alive) {
            Some(interpreter) => (interpreter, false),
            None => (Interpreter::of(self.sandbox.worker().await?), true),
        };
        let missing = self.names.begin(is_new);
        let (mut outcome, left) = interpreter.run(script, true, bridge).await?;
        *kept = left;
        self.names.end(missing, kept.is_some(), &mut outcome);
        Ok(outcome)
    }

    fn of_run(self: Arc<Self>) -> Arc<dyn Sandbox> {
        self
    }

    fn session(self: Arc<Self>) -> Arc<dyn Sandbox> {
        Arc::new(Self::over(Arc::clone(&self.sandbox)))
    }

    async fn close(&self) {
        drop(self.interpreter.lock().await.take());
    }
}
