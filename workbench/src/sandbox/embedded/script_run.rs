//! One script's run in a child process: its limits, its end, what it printed.

use std::process::ExitStatus;
use std::time::Instant;

use tokio::process::Child;

use super::capture::{FloodGauge, capture};
use super::child::{Worker, cause_of_death, failed_start};
use crate::sandbox::conversation::protocol::{Job, ToWorker};
use crate::sandbox::conversation::{FLOOD, LAST_OUTPUT, Link, Task, broken, converse};
use crate::sandbox::{Bridge, SandboxError, Script, ScriptEnd, ScriptOutcome};

/// Hands `script` to `worker` and sees it through.
pub(super) async fn run(
    worker: Worker,
    script: &Script<'_>,
    bridge: &dyn Bridge,
) -> Result<ScriptOutcome, SandboxError> {
    let started = Instant::now();
    let Worker { mut process, reader, writer, stdout, stderr } = worker;
    let gauge = FloodGauge::default();
    let stdout = Task::spawn(capture(stdout, script.limits.output_bytes, gauge.clone()));
    let stderr = Task::spawn(capture(stderr, script.limits.output_bytes, gauge.clone()));

    let job = serde_json::to_vec(&Job::of(script, false, script.limits.memory))
        .map_err(|error| failed_start(error.to_string()))?;
    let mut link = Link::open(reader, writer, script.announce_waiting);
    link.send(ToWorker::Run, job.into(), None);

    let end = tokio::select! {
        end = converse(&mut link, script.announce_waiting, bridge) => end,
        () = tokio::time::sleep(script.limits.time) => Some(ScriptEnd::TimedOut),
        () = gauge.overflow() => {
            Some(ScriptEnd::Stopped(format!("it printed more than {} MB", FLOOD / 1024 / 1024)))
        }
    };
    let time = started.elapsed();
    // Its output is written, or not wanted: a kill is the shortest way out of any state. A child
    // that died by itself is not touched, so that its own status tells why.
    let end = match end {
        Some(end) => Ok(end),
        None => death(&mut process).await,
    };
    process.start_kill().ok();
    process.wait().await.map_err(|error| failed_start(error.to_string()))?;
    // Whatever it may have started ends with the link, and lets go of the streams.
    drop(link);
    // The pipe of a dead child ends at once.
    let stdout = stdout.within(LAST_OUTPUT).await.unwrap_or_default();
    let stderr = stderr.within(LAST_OUTPUT).await.unwrap_or_default();
    let end = end.unwrap_or_else(|status| cause_of_death(status, &stderr));
    Ok(ScriptOutcome { end, stdout, stderr, time })
}

/// The status of a child that said no more.
async fn death(process: &mut Child) -> Result<ScriptEnd, ExitStatus> {
    match tokio::time::timeout(LAST_OUTPUT, process.wait()).await {
        Ok(Ok(status)) => Err(status),
        Ok(Err(error)) => Ok(ScriptEnd::Crashed(format!("how the interpreter ended is lost: {error}"))),
        Err(_) => Ok(broken("it closed its link and lived on")),
    }
}
