//! A script worker as the host sees it: a child process, its link, its two output streams.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

use crate::death::Death;
use crate::env::{ALLOCATOR, WORKER_GUARD};
use crate::frames::{self, Frame};
use crate::sandbox::conversation::protocol::ToHost;
use crate::sandbox::{Captured, SandboxError, ScriptEnd};

/// The hidden subcommand that makes the workbench a script worker.
pub const SUBCOMMAND: &str = "__script-worker";

/// How long an interpreter may take to come up, on a machine that is busy with other things.
pub(super) const START_LIMIT: Duration = Duration::from_secs(30);

/// Settings of glibc's allocator; others ignore them. The interpreter lives in a thread, whose memory would otherwise grow
/// by one page and one system call at a time.
const ALLOCATOR_SETTINGS: &str = "glibc.malloc.arena_max=1:glibc.malloc.top_pad=1048576:glibc.malloc.mmap_threshold=8388608:glibc.malloc.trim_threshold=67108864";

/// How long a worker that closed its link may take to end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A booted worker that waits for its script. Dropping it kills the process.
pub(super) struct Worker {
    pub(super) process: Child,
    pub(super) reader: BufReader<OwnedReadHalf>,
    pub(super) writer: OwnedWriteHalf,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Worker {
    /// Starts `program` as a script worker and waits until its interpreter is up, no longer than `limit`.
    pub(super) async fn boot(program: &Path, limit: Duration) -> Result<Self, SandboxError> {
        let mut worker = Self::spawn(program)
            .map_err(|error| failed_start(format!("{} could not be run: {error}", program.display())))?;
        let Ok(first) = timeout(limit, frames::read_async(&mut worker.reader)).await else {
            return Err(failed_start(format!("killed after {} s of starting", limit.as_secs())));
        };
        match first {
            Ok(Some(Frame { head: ToHost::Ready, .. })) => Ok(worker),
            Ok(Some(frame)) => Err(failed_start(format!("its first words were {:?}", frame.head))),
            Ok(None) => Err(failed_start(worker.last_words().await)),
            Err(error) => Err(failed_start(error.to_string())),
        }
    }

    fn spawn(program: &Path) -> std::io::Result<Self> {
        let (ours, theirs) = frames::channel()?;
        ours.set_nonblocking(true)?;
        let (read, write) = UnixStream::from_std(ours)?.into_split();
        // The worker's end of the link travels as its standard input; the worker moves it away.
        let mut process = Command::new(program)
            .arg(SUBCOMMAND)
            .env_clear()
            .env(WORKER_GUARD, "1")
            .env(ALLOCATOR, ALLOCATOR_SETTINGS)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = process.stdout.take().ok_or_else(|| std::io::Error::other("no standard output"))?;
        let stderr = process.stderr.take().ok_or_else(|| std::io::Error::other("no standard error"))?;
        Ok(Self { process, reader: BufReader::new(read), writer: write, stdout, stderr })
    }

    /// The worker, unless its process is gone.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        matches!(self.process.try_wait(), Ok(None)).then_some(self)
    }

    /// How a worker explains itself that closed its link before it was ready.
    async fn last_words(mut self) -> Death {
        let Ok(status) = timeout(LAST_WORDS, self.process.wait()).await else {
            return "it closed its link and lived on".into();
        };
        let mut said = Vec::new();
        let mut stream = (&mut self.stderr).take(1024);
        // Something it started may hold the stream open; what was read until then is told.
        timeout(LAST_WORDS, stream.read_to_end(&mut said)).await.ok();
        let said = String::from_utf8_lossy(&said);
        match status {
            Ok(status) if Death::is_kill(status) => Death::Killed,
            Ok(status) => format!("it ended with {status}: {}", said.trim()).into(),
            Err(error) => error.to_string().into(),
        }
    }
}

pub(super) fn failed_start(reason: impl Into<Death>) -> SandboxError {
    SandboxError::Start { sandbox: super::NAME, reason: reason.into() }
}

/// What a death without a word means. Only the end of standard error tells some causes apart.
pub(super) fn cause_of_death(status: ExitStatus, stderr: &Captured) -> ScriptEnd {
    let tail = stderr.text.as_str();
    if Death::is_kill(status) {
        return ScriptEnd::Killed;
    }
    let Some(number) = status.signal() else {
        return ScriptEnd::Crashed(if tail.contains("panicked at") {
            "the interpreter met a bug of its own; standard error tells where".into()
        } else {
            format!("the interpreter ended with {status} in the middle of the script")
        });
    };
    match Signal::from_named_raw(number) {
        Some(Signal::ABORT) if tail.contains("memory allocation of") => ScriptEnd::OutOfMemory,
        Some(Signal::ABORT | Signal::SEGV) if tail.contains("overflowed its stack") => {
            ScriptEnd::Crashed("the interpreter's stack overflowed: too deep a recursion".into())
        }
        Some(Signal::ABORT) => ScriptEnd::Crashed("the interpreter aborted".into()),
        Some(Signal::SEGV) => ScriptEnd::Crashed("the interpreter died of a segmentation fault".into()),
        Some(Signal::XCPU) => ScriptEnd::TimedOut,
        _ => ScriptEnd::Crashed(format!("the interpreter died of signal {number}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn a_program_that_never_says_it_is_ready_is_given_up() {
        // It writes without end, and nothing of it to the link.
        let failure = Worker::boot(Path::new("yes"), Duration::from_millis(200)).await.err().unwrap();
        assert_eq!(reason_of(&failure), &Death::from("killed after 0 s of starting"));
    }

    fn reason_of(failure: &SandboxError) -> &Death {
        match failure {
            SandboxError::Start { reason, .. } => reason,
            other => panic!("{other}"),
        }
    }
}
