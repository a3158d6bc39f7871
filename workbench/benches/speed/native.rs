//! The stand-ins: child processes at the end of a socket pair that speak the workbench's frames and do nothing else.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode};
use std::sync::{Mutex, mpsc};
use std::thread;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use workbench::frames::{self, Frame};

/// The argument that makes this program a child that says everything again.
pub(crate) const ECHO: &str = "__echo";
/// The argument that makes this program a child with one tool.
pub(crate) const TOOL: &str = "__tool";

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Say {
    Call { id: u64 },
    Request { id: u64 },
    Reply { id: u64 },
    Answer { id: u64 },
}

/// A stand-in and the host's end of its channel; gone when it is dropped.
pub(crate) struct Native {
    child: Child,
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    calls: u64,
}

impl Native {
    pub(crate) fn start(kind: &str) -> Self {
        let (ours, theirs) = frames::channel().unwrap();
        let program = std::env::current_exe().unwrap();
        let child = Command::new(program).arg(kind).stdin(OwnedFd::from(theirs)).spawn().unwrap();
        Self { child, reader: BufReader::new(ours.try_clone().unwrap()), writer: ours, calls: 0 }
    }

    /// Sends `body` and reads it back.
    pub(crate) fn echo(&mut self, body: &Bytes) -> Bytes {
        self.call(body, &Bytes::new())
    }

    /// Calls the tool, which asks for `record` and answers with it.
    pub(crate) fn call(&mut self, arguments: &Bytes, record: &Bytes) -> Bytes {
        self.calls += 1;
        frames::write(&mut self.writer, &Frame::new(Say::Call { id: self.calls }, arguments.clone())).unwrap();
        loop {
            let frame = frames::read(&mut self.reader).unwrap().unwrap();
            match frame.head {
                Say::Request { id } => {
                    frames::write(&mut self.writer, &Frame::new(Say::Reply { id }, record.clone())).unwrap();
                }
                _ => return frame.body,
            }
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Says every frame again.
pub(crate) fn echo() -> ExitCode {
    let (mut reader, mut writer) = channel();
    while let Some(Frame { head, body }) = frames::read::<Say>(&mut reader).unwrap() {
        frames::write(&mut writer, &Frame::new(head, body)).unwrap();
    }
    ExitCode::SUCCESS
}

/// Calls are read by one thread and run by another, which asks the host for a record and hands it on: one hand-off a
/// call, the least that a worker with more than one call under way can do.
pub(crate) fn tool() -> ExitCode {
    let (reader, mut writer) = channel();
    let reader = Mutex::new(reader);
    let (calls, queue) = mpsc::channel::<Frame<Say>>();
    let (done, is_done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            for Frame { body, .. } in queue {
                frames::write(&mut writer, &Frame::new(Say::Request { id: 1 }, body)).unwrap();
                let record = frames::read::<Say>(&mut *reader.lock().unwrap()).unwrap().unwrap().body;
                done.send(()).unwrap();
                frames::write(&mut writer, &Frame::new(Say::Answer { id: 1 }, record)).unwrap();
            }
        });
        loop {
            let Some(call) = frames::read(&mut *reader.lock().unwrap()).unwrap() else { break };
            calls.send(call).unwrap();
            is_done.recv().unwrap();
        }
        drop(calls);
    });
    ExitCode::SUCCESS
}

fn channel() -> (BufReader<File>, File) {
    let link = File::from(io::stdin().as_fd().try_clone_to_owned().unwrap());
    (BufReader::new(link.try_clone().unwrap()), link)
}
