//! One script's run: frames in both directions, tool calls under way at once, limits from outside.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::io::BufReader;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::capture::{FLOOD, FloodGauge, capture};
use super::child::{Worker, cause_of_death, failed_start};
use super::protocol::{Job, ToHost, ToWorker};
use crate::frames::{self, Frame};
use crate::sandbox::{Bridge, BridgeError, Captured, SandboxError, Script, ScriptEnd, ScriptOutcome, stubs};

/// Frames the host takes in before it has dealt with them; a script that floods it with calls waits.
const INBOX: usize = 64;

/// How long the end of a dead child's output is waited for.
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
    let mut link = Link::open(reader, writer);
    link.send(ToWorker::Run, job.into());

    let end = tokio::select! {
        end = converse(&mut link, bridge) => end,
        () = tokio::time::sleep(script.limits.time) => Some(ScriptEnd::TimedOut),
        () = gauge.overflow() => {
            Some(ScriptEnd::Stopped(format!("it printed more than {} MB", FLOOD / 1024 / 1024)))
        }
    };
    let time = started.elapsed();
    // Its output is written, or not wanted: a kill is the shortest way out of any state. A child
    // that died by itself is not touched, so that its own status tells why.
    if end.is_some() {
        process.start_kill().ok();
    }
    let status = process.wait().await.map_err(|error| failed_start(error.to_string()))?;
    let (stdout, stderr) = (stdout.finish().await, stderr.finish().await);
    let end = end.unwrap_or_else(|| cause_of_death(status, &stderr));
    Ok(ScriptOutcome { end, stdout, stderr, time })
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
async fn converse(link: &mut Link, bridge: &dyn Bridge) -> Option<ScriptEnd> {
    let mut calls = FuturesUnordered::new();
    loop {
        // Calls first: when the child says that it waits, all it asked for is known to the bridge.
        tokio::select! {
            biased;
            Some((id, answer)) = calls.next(), if !calls.is_empty() => match answer {
                Ok(body) => link.send(ToWorker::Answer { id, ok: true }, body),
                Err(BridgeError::Tool(text)) => link.send(ToWorker::Answer { id, ok: false }, text.into()),
                Err(BridgeError::Stop(text)) => return Some(ScriptEnd::Stopped(text)),
            },
            frame = link.inbox.recv() => match frame? {
                Ok(Frame { head: ToHost::Call { id, tool }, body }) => {
                    calls.push(async move { (id, bridge.call(&tool, body).await) });
                }
                Ok(Frame { head: ToHost::Waiting, .. }) => bridge.waiting().await,
                Ok(Frame { head: ToHost::End { out_of_memory: true, .. }, .. }) => return Some(ScriptEnd::OutOfMemory),
                Ok(Frame { head: ToHost::End { code, .. }, .. }) => return Some(ScriptEnd::Exit(code)),
                Ok(Frame { head: ToHost::Ready, .. }) => {}
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    return Some(ScriptEnd::Crashed(format!("the interpreter spoke garbage: {error}")));
                }
                // A child that died with words of ours unread resets the link; its status tells why.
                Err(_) => return None,
            },
        }
    }
}

/// Both directions of the link, each moved by a task of its own: a child that writes a thousand
/// calls before it reads one answer must not stop a host that is writing answers.
struct Link {
    inbox: mpsc::Receiver<std::io::Result<Frame<ToHost>>>,
    outbox: mpsc::UnboundedSender<Frame<ToWorker>>,
    _tasks: [Task<()>; 2],
}

impl Link {
    fn open(reader: BufReader<OwnedReadHalf>, writer: OwnedWriteHalf) -> Self {
        let (arrived, inbox) = mpsc::channel(INBOX);
        let (outbox, leaving) = mpsc::unbounded_channel();
        let tasks = [Task::spawn(read_all(reader, arrived)), Task::spawn(write_all(writer, leaving))];
        Self { inbox, outbox, _tasks: tasks }
    }

    /// A child that is gone is noticed by the reading side.
    fn send(&self, head: ToWorker, body: Bytes) {
        self.outbox.send(Frame::new(head, body)).ok();
    }
}

async fn read_all(mut reader: BufReader<OwnedReadHalf>, arrived: mpsc::Sender<std::io::Result<Frame<ToHost>>>) {
    while let Some(frame) = frames::read_async(&mut reader).await.transpose() {
        let broken = frame.is_err();
        if arrived.send(frame).await.is_err() || broken {
            return;
        }
    }
}

async fn write_all(mut writer: OwnedWriteHalf, mut leaving: mpsc::UnboundedReceiver<Frame<ToWorker>>) {
    while let Some(frame) = leaving.recv().await {
        if frames::write_async(&mut writer, &frame).await.is_err() {
            return;
        }
    }
}

/// A task that ends with its owner.
struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
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
