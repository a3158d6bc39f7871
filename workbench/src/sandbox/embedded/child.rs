//! A script worker as the host sees it: a child process, its link, its two output streams.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::protocol::ToHost;
use crate::env::WORKER_GUARD;
use crate::frames::{self, Frame};
use crate::sandbox::{Captured, SandboxError, ScriptEnd};

/// The hidden subcommand that makes the workbench a script worker.
pub const SUBCOMMAND: &str = "__script-worker";

/// A booted worker that waits for its script. Dropping it kills the process.
pub(super) struct Worker {
    pub(super) process: Child,
    pub(super) reader: BufReader<OwnedReadHalf>,
    pub(super) writer: OwnedWriteHalf,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Worker {
    /// Starts `program` as a script worker and waits until its interpreter is up.
    pub(super) async fn boot(program: &Path) -> Result<Self, SandboxError> {
        let mut worker = Self::spawn(program)
            .map_err(|error| failed_start(format!("{} could not be run: {error}", program.display())))?;
        match frames::read_async(&mut worker.reader).await {
            Ok(Some(Frame { head: ToHost::Ready, .. })) => Ok(worker),
            Ok(Some(frame)) => Err(failed_start(format!("its first words were {:?}", frame.head))),
            Ok(None) => Err(failed_start(worker.last_words().await)),
            Err(error) => Err(failed_start(error.to_string())),
        }
    }

    fn spawn(program: &Path) -> std::io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (read, write) = UnixStream::from_std(ours)?.into_split();
        // The worker's end of the link travels as its standard input; the worker moves it away.
        let mut process = Command::new(program)
            .arg(SUBCOMMAND)
            .env_clear()
            .env(WORKER_GUARD, "1")
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

    /// How a worker that died before it was ready explains itself.
    async fn last_words(mut self) -> String {
        let said = super::capture::capture(&mut self.stderr, 1024, super::capture::FloodGauge::default()).await;
        match self.process.wait().await {
            Ok(status) => format!("it ended with {status}: {}", said.text.trim()),
            Err(error) => error.to_string(),
        }
    }
}

pub(super) fn failed_start(reason: String) -> SandboxError {
    SandboxError::Start { sandbox: super::NAME, reason }
}

/// What a death without a word means. Only the end of standard error tells some causes apart.
pub(super) fn cause_of_death(status: ExitStatus, stderr: &Captured) -> ScriptEnd {
    let tail = stderr.text.as_str();
    match status.signal() {
        Some(6) if tail.contains("memory allocation of") => ScriptEnd::OutOfMemory,
        Some(6 | 11) if tail.contains("overflowed its stack") => {
            ScriptEnd::Crashed("the interpreter's stack overflowed: too deep a recursion".into())
        }
        Some(6) => ScriptEnd::Crashed("the interpreter aborted".into()),
        Some(11) => ScriptEnd::Crashed("the interpreter died of a segmentation fault".into()),
        Some(24) => ScriptEnd::TimedOut,
        Some(9) => {
            ScriptEnd::Crashed("the interpreter was killed from outside, perhaps by the system for memory".into())
        }
        Some(signal) => ScriptEnd::Crashed(format!("the interpreter died of signal {signal}")),
        None if tail.contains("panicked at") => {
            ScriptEnd::Crashed("the interpreter met a bug of its own; standard error tells where".into())
        }
        None => ScriptEnd::Crashed(format!("the interpreter ended with {status} in the middle of the script")),
    }
}
