//! What runs in a container, and what it tells on standard error: the script's output and its end.

use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::container::Reader;
use crate::frames::{self, Frame};
use crate::sandbox::conversation::Task;

/// The first process, which starts the interpreter and outlives it.
pub(super) const SUPERVISOR: &str = include_str!("python/supervisor.py");

/// The interpreter of scripts.
pub(super) const INTERPRETER: &str = include_str!("python/interpreter.py");

/// What it makes the tools with.
pub(super) const TOOLS: &str = include_str!("../python/_tools.py");

/// What it ends scripts with.
pub(super) const ENDING: &str = include_str!("../python/_ending.py");

/// Longest piece of output in a frame.
const LONGEST_PIECE: u64 = 1024 * 1024;

/// Frames that wait to be taken.
const WAITING: usize = 16;

/// What the supervisor says. A script may have taken it over.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Told {
    /// The body was printed.
    Output {
        /// 1 is standard output, 2 standard error.
        stream: u8,
    },
    /// The script is over, and so is its output.
    End {
        /// As a process would exit.
        code: i32,
        /// Whether an uncaught `MemoryError` ended it.
        out_of_memory: bool,
        /// Whether it left files.
        files: bool,
    },
    /// The interpreter's process ended in the middle of the script.
    Died {
        /// Its exit code, or the number of the signal below zero.
        status: i32,
        /// Whether it left files.
        files: bool,
    },
}

/// What the supervisor says, frame by frame, until the container is gone or speaks garbage.
pub(super) struct Supervisor {
    frames: mpsc::Receiver<std::io::Result<Frame<Told>>>,
    _reader: Task<()>,
}

impl Supervisor {
    /// Listens to a container's standard error.
    pub(super) fn listen(mut errors: Reader) -> Self {
        let (sender, frames) = mpsc::channel(WAITING);
        let reader = Task::spawn(async move {
            while let Some(frame) = frames::read_async_within(&mut errors, LONGEST_PIECE).await.transpose() {
                let broken = frame.is_err();
                if sender.send(frame).await.is_err() || broken {
                    return;
                }
            }
        });
        Self { frames, _reader: reader }
    }

    /// What it says next. `None`: nothing any more; an error: that was none of its words.
    pub(super) async fn next(&mut self) -> Option<std::io::Result<(Told, Bytes)>> {
        Some(self.frames.recv().await?.map(|Frame { head, body }| (head, body)))
    }

    /// What it has said already.
    pub(super) fn said(&mut self) -> Option<(Told, Bytes)> {
        self.frames.try_recv().ok()?.ok().map(|Frame { head, body }| (head, body))
    }
}
