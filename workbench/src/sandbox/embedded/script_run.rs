//! A script's run in a child process: its limits, its end, what it printed.

use std::process::ExitStatus;
use std::time::Instant;

use tokio::process::Child;

use super::child::{Worker, cause_of_death, failed_start};
use super::output::{Output, Printed};
use crate::sandbox::conversation::protocol::{Job, ToWorker};
use crate::sandbox::conversation::{Clock, FLOOD, LAST_OUTPUT, Link, broken, converse};
use crate::sandbox::{Bridge, SandboxError, Script, ScriptEnd, ScriptOutcome};

/// A worker that is spoken to. Dropping it kills the process.
pub(super) struct Interpreter {
    process: Child,
    link: Link,
    output: Output,
}

impl Interpreter {
    pub(super) fn of(worker: Worker) -> Self {
        let Worker { process, reader, writer, stdout, stderr } = worker;
        Self { process, link: Link::open(reader, writer), output: Output::new(stdout, stderr) }
    }

    /// The interpreter, unless its process is gone.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        matches!(self.process.try_wait(), Ok(None)).then_some(self)
    }

    /// Hands it a script and sees that through. With `keep_state` it goes on when the script ends by itself, and is given
    /// back.
    pub(super) async fn run(
        mut self,
        script: &Script<'_>,
        keep_state: bool,
        bridge: &dyn Bridge,
    ) -> Result<(ScriptOutcome, Option<Self>), SandboxError> {
        let started = Instant::now();
        let number = self.link.next_job(script.announce_waiting);
        let job = serde_json::to_vec(&Job::of(number, script, keep_state, script.limits.memory))
            .map_err(|error| failed_start(error.to_string()))?;
        self.link.send(ToWorker::Run, job.into(), None);

        let (clock, mut printed) = (Clock::start(script.limits.time), Printed::new(script.limits.output_bytes));
        let flood = || Some(ScriptEnd::Stopped(format!("it printed more than {} MB", FLOOD / 1024 / 1024)));
        let mut end = tokio::select! {
            end = converse(&mut self.link, script.announce_waiting, &clock, bridge) => end,
            () = clock.over() => Some(ScriptEnd::TimedOut),
            () = self.output.follow(&mut printed) => flood(),
        };
        let time = started.elapsed();
        if keep_state && let Some(exit @ ScriptEnd::Exit(_)) = &end {
            self.output.empty(&mut printed);
            if !printed.is_flood() {
                let (end, (stdout, stderr)) = (exit.clone(), printed.texts());
                return Ok((ScriptOutcome { end, stdout, stderr, time }, Some(self)));
            }
            end = flood();
        }
        // Its output is written, or not wanted: a kill is the shortest way out of any state. A child
        // that died by itself is not touched, so that its own status tells why.
        let end = match end {
            Some(end) => Ok(end),
            None => death(&mut self.process).await,
        };
        self.process.start_kill().ok();
        self.process.wait().await.map_err(|error| failed_start(error.to_string()))?;
        self.output.empty(&mut printed);
        let (stdout, stderr) = printed.texts();
        let end = end.unwrap_or_else(|status| cause_of_death(status, &stderr));
        Ok((ScriptOutcome { end, stdout, stderr, time }, None))
    }
}

/// The status of a child that said no more.
async fn death(process: &mut Child) -> Result<ScriptEnd, ExitStatus> {
    match tokio::time::timeout(LAST_OUTPUT, process.wait()).await {
        Ok(Ok(status)) => Err(status),
        Ok(Err(error)) => Ok(ScriptEnd::Crashed(format!("how the interpreter ended is lost: {error}"))),
        Err(_) => Ok(broken("it closed its link and lived on")),
    }
}
