//! One worker process: started, listened to, ended, and its death explained.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, absolute};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::SUBCOMMAND;
use super::cause::cause;
use super::tail::Tail;
use crate::death::Death;
use crate::{env, frames};

/// Bytes of standard error that are kept to name the cause of a death.
const LAST_WORDS: usize = 1024;

/// How long a process may take to end once its channel is closed, or its output once it has
/// ended: a child of the plugin may still hold either open.
const GRACE: Duration = Duration::from_millis(500);

/// Settings of glibc's allocator; others ignore them. Memory of a large record is used again for the next one: given
/// back to the system each time, it costs as much as all copies of the record.
const ALLOCATOR: &str = "glibc.malloc.mmap_threshold=8388608:glibc.malloc.trim_threshold=16777216";

/// A running worker. Dropping it kills it.
pub(super) struct WorkerProcess {
    child: Child,
    last_words: Arc<Tail>,
    listener: JoinHandle<()>,
}

impl WorkerProcess {
    /// Starts [`SUBCOMMAND`] for `library`, which may write to `out`. Returns the host's end of its channel; what it
    /// prints goes to `log`.
    pub(super) fn spawn(program: &Path, library: &Path, out: &Path, log: Arc<Tail>) -> io::Result<(Self, UnixStream)> {
        let (ours, theirs) = frames::channel()?;
        ours.set_nonblocking(true)?;
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            // The worker changes its folder.
            .arg(absolute(library)?)
            .arg(absolute(out)?)
            .env_clear()
            .env(env::WORKER_GUARD, "1")
            .env(env::ALLOCATOR, ALLOCATOR)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let last_words = Arc::new(Tail::new(LAST_WORDS));
        let words = Arc::clone(&last_words);
        let listener = tokio::spawn(async move {
            let output = async {
                if let Some(stdout) = stdout {
                    Tail::drain(stdout, &[&log]).await;
                }
            };
            let errors = async {
                if let Some(stderr) = stderr {
                    Tail::drain(stderr, &[&log, &words]).await;
                }
            };
            tokio::join!(output, errors);
        });
        Ok((Self { child, last_words, listener }, UnixStream::from_std(ours)?))
    }

    /// Waits for the process to end by itself.
    pub(super) async fn ended(&mut self) {
        // An error means that the status was taken already: it has ended.
        let _status = self.child.wait().await;
    }

    /// Kills the process and waits until it is gone.
    pub(super) async fn kill(mut self) {
        // An error means that it ended before.
        let _outcome = self.child.kill().await;
    }

    /// Says why the process ended, whose channel is closed. One that closed its channel and lives
    /// on is killed.
    pub(super) async fn cause(mut self) -> Death {
        let Ok(status) = timeout(GRACE, self.child.wait()).await else {
            self.kill().await;
            return "closed its channel".into();
        };
        // Best effort: without the last words the cause is less exact.
        let _heard = timeout(GRACE, self.listener).await;
        match status {
            Ok(status) => cause(status, &self.last_words.text()),
            Err(error) => format!("its exit status is lost: {error}").into(),
        }
    }
}
