//! One script's run: frames in both directions, tool calls under way at once, limits from outside.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::process::Child;
use tokio::task::JoinHandle;

use super::capture::{FLOOD, FloodGauge, capture};
use super::child::{Worker, cause_of_death, failed_start};
use super::link::Link;
use super::protocol::{Job, MAX_NAME, ToHost, ToWorker};
use crate::frames::Frame;
use crate::sandbox::{Bridge, BridgeError, Captured, SandboxError, Script, ScriptEnd, ScriptOutcome, stubs};

/// How long the end of a child is waited for that said no more, and then the end of its output.
const LAST_OUTPUT: Duration = Duration::from_secs(5);

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

    let job = serde_json::to_vec(&job_of(script)).map_err(|error| failed_start(error.to_string()))?;
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
    let (stdout, stderr) = (stdout.finish().await, stderr.finish().await);
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

fn job_of(script: &Script<'_>) -> Job {
    Job {
        source: script.source.to_owned(),
        tools_module: stubs::module_source(script.tools),
        domain_module: stubs::domain_module(script.domain),
        announce_waiting: script.announce_waiting,
        memory: script.limits.memory,
        cpu_seconds: script.limits.time.as_secs().saturating_add(5),
    }
}

/// Answers calls until the script ends. `None`: the child is gone without a word.
async fn converse(link: &mut Link, announces_waiting: bool, bridge: &dyn Bridge) -> Option<ScriptEnd> {
    let mut calls = FuturesUnordered::new();
    let mut last_id = 0;
    loop {
        // Calls first: when the child says that it waits, all it asked for is known to the bridge.
        tokio::select! {
            biased;
            Some((id, answer, turn)) = calls.next(), if !calls.is_empty() => match answer {
                Ok(body) => link.send(ToWorker::Answer { id, ok: true }, body, turn),
                Err(BridgeError::Tool(text)) => link.send(ToWorker::Answer { id, ok: false }, text.into(), turn),
                Err(BridgeError::Stop(text)) => return Some(ScriptEnd::Stopped(text)),
            },
            arrived = link.next() => {
                let (frame, share) = arrived?;
                let Frame { head, body } = match frame {
                    Ok(frame) => frame,
                    Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                        return Some(broken(&error.to_string()));
                    }
                    // A child that died with words of ours unread resets the link; its status tells why.
                    Err(_) => return None,
                };
                match head {
                    ToHost::Call { id, .. } if id <= last_id => {
                        return Some(broken(&format!("it used the number {id} for a second call")));
                    }
                    ToHost::Call { tool, .. } if tool.len() > MAX_NAME => {
                        return Some(broken(&format!("it called a tool by a name of {} bytes", tool.len())));
                    }
                    ToHost::Call { id, tool } => {
                        last_id = id;
                        let (turn, call) = (link.turn(), bridge.admit(tool, body));
                        if let Err(BridgeError::Stop(text)) = call {
                            return Some(ScriptEnd::Stopped(text));
                        }
                        calls.push(async move {
                            let turn = turn.await;
                            let answer = match call {
                                Ok(call) => call.await,
                                Err(refusal) => Err(refusal),
                            };
                            drop(share);
                            (id, answer, turn)
                        });
                    }
                    ToHost::Waiting if announces_waiting => bridge.waiting().await,
                    ToHost::Waiting => return Some(broken("it announced a wait, and nobody had asked for that")),
                    ToHost::End { out_of_memory: true, .. } => return Some(ScriptEnd::OutOfMemory),
                    ToHost::End { code, .. } => return Some(ScriptEnd::Exit(code)),
                    ToHost::Ready => return Some(broken("it said twice that it is ready")),
                }
            },
        }
    }
}

/// The end of a worker that did what our own never does. Its script may have taken it over.
fn broken(what: &str) -> ScriptEnd {
    ScriptEnd::Crashed(format!("the interpreter broke the protocol: {what}"))
}

/// A task that ends with its owner.
pub(super) struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    pub(super) fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Task<Captured> {
    /// What was captured. The pipe of a dead child ends at once.
    async fn finish(mut self) -> Captured {
        match tokio::time::timeout(LAST_OUTPUT, &mut self.0).await {
            Ok(Ok(captured)) => captured,
            _ => Captured::default(),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
