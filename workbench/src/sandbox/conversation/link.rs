//! The host's end of a worker's link: frames in and out, in bounded memory whatever the worker does.
//!
//! A worker is one that a script may have taken over. So what it sent and what is on its way to it
//! are both counted: at the first limit the host reads no further, at the second no further call
//! begins.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::Task;
use super::protocol::{MAX_ARGUMENTS, ToHost, ToWorker};
use crate::frames::{self, Frame};

/// Bytes of frames that were read and whose calls have not ended; a worker that sends more waits.
const UNANSWERED: usize = 4 * MAX_ARGUMENTS;

/// Bytes of answers that were not read; a worker that leaves more and calls on waits.
const UNREAD: usize = UNANSWERED;

/// What a frame weighs beside its body and the name in its head.
const FRAME_WEIGHT: usize = 256;

/// Calls that are made at once or whose answers are not yet with the script. Twice what a plugin runs
/// at once; and a script that reads no answers has no more of them kept for it than these.
const CALLS_UNDER_WAY: usize = 16;

/// Its share of a limit, given back when dropped.
pub(super) type Share = Option<OwnedSemaphorePermit>;

/// What the worker said, or how its link broke, and its weight.
type Arrived = (io::Result<Frame<ToHost>>, Share);

/// Both directions of the link, each moved by a task of its own: a child that writes a thousand
/// calls before it reads one answer must not stop a host that is writing answers.
pub(in crate::sandbox) struct Link {
    inbox: mpsc::UnboundedReceiver<Arrived>,
    outbox: mpsc::UnboundedSender<(Frame<ToWorker>, [Share; 2])>,
    unread: Arc<Semaphore>,
    turns: Option<Arc<Semaphore>>,
    jobs: u64,
    _tasks: [Task<()>; 2],
}

impl Link {
    /// A link over both directions of a worker's stream.
    pub(in crate::sandbox) fn open(
        reader: impl AsyncBufRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (arrived, inbox) = mpsc::unbounded_channel();
        let (outbox, leaving) = mpsc::unbounded_channel();
        let tasks = [Task::spawn(read_all(reader, arrived)), Task::spawn(write_all(writer, leaving))];
        let unread = Arc::new(Semaphore::new(UNREAD));
        Self { inbox, outbox, unread, turns: None, jobs: 0, _tasks: tasks }
    }

    /// The number of the next script's job. Its calls are all made as they come when `at_once`: where waits are
    /// announced, all that was asked for has to be known before.
    pub(in crate::sandbox) fn next_job(&mut self, at_once: bool) -> u64 {
        self.turns = (!at_once).then(|| Arc::new(Semaphore::new(CALLS_UNDER_WAY)));
        self.jobs += 1;
        self.jobs
    }

    /// The number of the job under way.
    pub(super) fn job(&self) -> u64 {
        self.jobs
    }

    /// What the worker says next; `None` when it is gone.
    pub(super) async fn next(&mut self) -> Option<Arrived> {
        match self.inbox.recv().await? {
            // It died in the middle of a frame, or before it read all of ours.
            (Err(error), _) if is_end(&error) => None,
            arrived => Some(arrived),
        }
    }

    /// What a call waits for before it is made; to be kept until its answer is sent.
    pub(super) fn turn(&self) -> impl Future<Output = Share> + use<> {
        let turns = self.turns.clone();
        async move { turns?.acquire_owned().await.ok() }
    }

    /// Sends a frame. A child that is gone is noticed by the reading side.
    pub(in crate::sandbox) fn send(&self, head: ToWorker, body: Bytes, turn: Share) {
        // What one pause is answered with may be more, and is not held up.
        let weight = (FRAME_WEIGHT + body.len()).min(self.unread.available_permits());
        let share =
            u32::try_from(weight).ok().and_then(|weight| Arc::clone(&self.unread).try_acquire_many_owned(weight).ok());
        self.outbox.send((Frame::new(head, body), [turn, share])).ok();
    }

    /// Whether there is room for further answers.
    pub(super) fn is_read(&self) -> bool {
        self.unread.available_permits() > 0
    }

    /// Comes back when there is.
    pub(super) async fn read(&self) {
        _ = self.unread.acquire().await;
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

async fn read_all(mut reader: impl AsyncBufRead + Unpin, arrived: mpsc::UnboundedSender<Arrived>) {
    let room = Arc::new(Semaphore::new(UNANSWERED));
    while let Some(frame) = frames::read_async_within(&mut reader, MAX_ARGUMENTS as u64).await.transpose() {
        let weight = frame.as_ref().map_or(0, weight);
        let share = Arc::clone(&room).acquire_many_owned(weight).await.ok();
        let broken = frame.is_err();
        if arrived.send((frame, share)).is_err() || broken {
            return;
        }
    }
}

fn weight(frame: &Frame<ToHost>) -> u32 {
    let name = match &frame.head {
        ToHost::Call { tool, .. } => tool.len(),
        _ => 0,
    };
    // Longer than its limits no frame is; the least of both keeps a wrong count from waiting for ever.
    u32::try_from((FRAME_WEIGHT + name + frame.body.len()).min(UNANSWERED)).unwrap_or(u32::MAX)
}

async fn write_all(
    mut writer: impl AsyncWrite + Unpin,
    mut leaving: mpsc::UnboundedReceiver<(Frame<ToWorker>, [Share; 2])>,
) {
    while let Some((frame, _shares)) = leaving.recv().await {
        if frames::write_async(&mut writer, &frame).await.is_err() {
            return;
        }
    }
}
