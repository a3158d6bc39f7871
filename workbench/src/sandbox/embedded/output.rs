//! The output streams of a script worker: read while a script runs, and emptied when it ended.

use std::os::fd::AsFd;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdout};

use crate::sandbox::Captured;
use crate::sandbox::conversation::{FLOOD, Tail};

/// Bytes that are read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Both streams.
pub(super) struct Output {
    stdout: ChildStdout,
    stderr: ChildStderr,
}

/// What one script printed.
pub(super) struct Printed {
    stdout: Tail,
    stderr: Tail,
    bytes: u64,
}

impl Output {
    pub(super) fn new(stdout: ChildStdout, stderr: ChildStderr) -> Self {
        Self { stdout, stderr }
    }

    /// Takes in what is printed, until it is more than [`FLOOD`]. May be given up at any time: nothing is lost.
    pub(super) async fn follow(&mut self, printed: &mut Printed) {
        let (mut from_stdout, mut from_stderr) = (vec![0; CHUNK], vec![0; CHUNK]);
        let (mut stdout_ended, mut stderr_ended) = (false, false);
        while !printed.is_flood() {
            // A stream that breaks off ends there.
            tokio::select! {
                read = self.stdout.read(&mut from_stdout), if !stdout_ended => match read {
                    Ok(read @ 1..) => printed.take(true, &from_stdout[..read]),
                    _ => stdout_ended = true,
                },
                read = self.stderr.read(&mut from_stderr), if !stderr_ended => match read {
                    Ok(read @ 1..) => printed.take(false, &from_stderr[..read]),
                    _ => stderr_ended = true,
                },
                else => std::future::pending().await,
            }
        }
    }

    /// Takes in what is left of what was printed until now, until it is more than [`FLOOD`]. A worker that says that its script ended has written all of it,
    /// and of one that died the pipes hold the rest.
    pub(super) fn empty(&mut self, printed: &mut Printed) {
        let mut chunk = vec![0; CHUNK];
        // Below the runtime, whose word that there is nothing to read may be older than the last of the output.
        // One that was taken over may write on and on, and what it left behind as well.
        while !printed.is_flood()
            && let Ok(read @ 1..) = rustix::io::read(self.stdout.as_fd(), &mut chunk[..])
        {
            printed.take(true, &chunk[..read]);
        }
        while !printed.is_flood()
            && let Ok(read @ 1..) = rustix::io::read(self.stderr.as_fd(), &mut chunk[..])
        {
            printed.take(false, &chunk[..read]);
        }
    }
}

impl Printed {
    /// Nothing yet; the last `keep` bytes of each stream will be kept.
    pub(super) fn new(keep: usize) -> Self {
        Self { stdout: Tail::new(keep), stderr: Tail::new(keep), bytes: 0 }
    }

    fn take(&mut self, is_stdout: bool, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let stream = if is_stdout { &mut self.stdout } else { &mut self.stderr };
        stream.add(bytes);
    }

    /// Whether it is more than a script may print.
    pub(super) fn is_flood(&self) -> bool {
        self.bytes > FLOOD
    }

    /// Both streams as text.
    pub(super) fn texts(self) -> (Captured, Captured) {
        (self.stdout.text(), self.stderr.text())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;
    use std::os::fd::OwnedFd;

    use super::*;

    #[tokio::test]
    async fn of_a_stream_without_end_no_more_is_taken_in_than_may_be_printed() {
        // It has no end, and whether it can be read may be asked.
        let endless = || OwnedFd::from(File::open("/dev/random").unwrap());
        let stdout = ChildStdout::from_std(endless().into()).unwrap();
        let stderr = ChildStderr::from_std(endless().into()).unwrap();
        let mut printed = Printed::new(1024);
        Output::new(stdout, stderr).empty(&mut printed);
        assert!(printed.is_flood() && printed.bytes <= FLOOD + CHUNK as u64, "{}", printed.bytes);
    }
}
