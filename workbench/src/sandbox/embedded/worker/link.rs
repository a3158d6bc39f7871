//! The script's end of the link: calls go out, answers come in, in any order.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::frames::{self, Frame};
use crate::sandbox::conversation::protocol::{Job, ToHost, ToWorker};

/// The answer to one call.
pub(super) struct Answer {
    pub(super) id: u64,
    pub(super) ok: bool,
    pub(super) body: Bytes,
}

/// The worker's end of the link. A `File`, since that reads and writes with the plain system calls
/// that the lock-down leaves.
pub(super) struct Link {
    reader: BufReader<File>,
    writer: File,
    last_id: u64,
    /// Calls that have no answer yet.
    open: usize,
    /// Answers that were read and not handed out.
    arrived: VecDeque<Answer>,
    announce_waiting: bool,
    stood: Duration,
}

impl Link {
    pub(super) fn new(stream: File) -> io::Result<Self> {
        let writer = stream.try_clone()?;
        let reader = BufReader::new(stream);
        let (arrived, stood) = (VecDeque::new(), Duration::ZERO);
        Ok(Self { reader, writer, last_id: 0, open: 0, arrived, announce_waiting: false, stood })
    }

    /// What it reads from and what it writes to.
    pub(super) fn descriptors(&self) -> (BorrowedFd<'_>, BorrowedFd<'_>) {
        (self.reader.get_ref().as_fd(), self.writer.as_fd())
    }

    /// Says that the interpreter is up.
    pub(super) fn announce(&mut self) -> io::Result<()> {
        self.send(ToHost::Ready, Bytes::new())
    }

    /// Whether the host has said something.
    pub(super) fn has_news(&self) -> bool {
        self.is_readable(Some(Duration::ZERO)).unwrap_or(true)
    }

    /// Waits for what there is to do. `None`: nothing any more. Answers to calls of the script before, which has ended, are
    /// passed over.
    pub(super) fn receive_job(&mut self) -> io::Result<Option<Job>> {
        loop {
            match frames::read(&mut self.reader)? {
                Some(Frame { head: ToWorker::Run, body }) => {
                    let job: Job = serde_json::from_slice(&body)?;
                    self.announce_waiting = job.announce_waiting;
                    (self.open, self.arrived) = (0, VecDeque::new());
                    self.send(ToHost::Started { job: job.number }, Bytes::new())?;
                    return Ok(Some(job));
                }
                Some(_) if self.last_id > 0 => {}
                Some(_) => return Err(io::Error::other("the host answered before it was asked")),
                None => return Ok(None),
            }
        }
    }

    /// Sends a call and returns the number its answer will carry.
    pub(super) fn call(&mut self, tool: String, arguments: Vec<u8>) -> io::Result<u64> {
        self.last_id += 1;
        self.send(ToHost::Call { id: self.last_id, tool }, arguments.into())?;
        self.open += 1;
        Ok(self.last_id)
    }

    /// The next answer; `None` when `patience` is over, or when no call is open.
    pub(super) fn next(&mut self, patience: Option<Duration>) -> io::Result<Option<Answer>> {
        if self.arrived.is_empty() {
            self.fetch(patience)?;
        }
        Ok(self.arrived.pop_front())
    }

    /// The answer to call `id`, whatever else arrives before it.
    pub(super) fn answer_to(&mut self, id: u64) -> io::Result<Answer> {
        loop {
            if let Some(index) = self.arrived.iter().position(|answer| answer.id == id)
                && let Some(answer) = self.arrived.remove(index)
            {
                return Ok(answer);
            }
            if self.open == 0 {
                return Err(io::Error::other("the call was already answered"));
            }
            self.fetch(None)?;
        }
    }

    /// How long the script waited where that was announced. Its timers stand meanwhile: how long somebody takes to answer
    /// changes nothing.
    pub(super) fn stood(&self) -> Duration {
        self.stood
    }

    /// Says how the script ended.
    pub(super) fn end(&mut self, code: i32, out_of_memory: bool) -> io::Result<()> {
        self.send(ToHost::End { code, out_of_memory }, Bytes::new())
    }

    /// Reads at least one answer, unless `patience` ends before.
    ///
    /// Where waits are announced they become turns of a conversation, so a turn's answers are all
    /// waited for and handed out in the order of the calls: what a script does next depends on its
    /// code alone, never on which answer came first.
    fn fetch(&mut self, patience: Option<Duration>) -> io::Result<()> {
        if self.open == 0 || !self.is_readable(patience)? {
            return Ok(());
        }
        if !self.announce_waiting {
            return self.read_answer();
        }
        self.send(ToHost::Waiting, Bytes::new())?;
        let began = Instant::now();
        while self.open > 0 {
            self.read_answer()?;
        }
        self.stood += began.elapsed();
        self.arrived.make_contiguous().sort_by_key(|answer| answer.id);
        Ok(())
    }

    fn read_answer(&mut self) -> io::Result<()> {
        match frames::read(&mut self.reader)? {
            Some(Frame { head: ToWorker::Answer { id, ok }, body }) => {
                self.open = self.open.saturating_sub(1);
                self.arrived.push_back(Answer { id, ok, body });
                Ok(())
            }
            Some(_) => Err(io::Error::other("a second script was sent")),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Whether reading will not outlast `patience`.
    fn is_readable(&self, patience: Option<Duration>) -> io::Result<bool> {
        // A wait that is announced has no end of its own; one of no time at all is only a look.
        if self.announce_waiting {
            return Ok(patience != Some(Duration::ZERO));
        }
        let Some(patience) = patience else { return Ok(true) };
        if !self.reader.buffer().is_empty() {
            return Ok(true);
        }
        let timeout = Timespec::try_from(patience).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut descriptors = [PollFd::from_borrowed_fd(self.reader.get_ref().as_fd(), PollFlags::IN)];
        Ok(poll(&mut descriptors, Some(&timeout))? > 0)
    }

    fn send(&mut self, head: ToHost, body: Bytes) -> io::Result<()> {
        frames::write(&mut self.writer, &Frame::new(head, body))
    }
}
