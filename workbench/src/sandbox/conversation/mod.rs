//! How the host talks with the interpreter of a script, wherever that is: frames in both directions, in bounded memory.

mod clock;
mod link;
pub(super) mod protocol;
mod tail;

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::task::JoinHandle;

pub(super) use self::clock::Clock;
pub(super) use self::link::Link;
use self::protocol::{MAX_NAME, ToHost, ToWorker};
pub(super) use self::tail::{FLOOD, Tail};
use super::{Bridge, BridgeError, ScriptEnd};
use crate::frames::Frame;

/// How long the end of an interpreter is waited for that said no more, and then the end of its output.
pub(super) const LAST_OUTPUT: Duration = Duration::from_secs(5);

/// Answers calls until the script ends. `None`: the child is gone without a word.
pub(super) async fn converse(
    link: &mut Link,
    announces_waiting: bool,
    clock: &Clock,
    bridge: &dyn Bridge,
) -> Option<ScriptEnd> {
    let mut calls = FuturesUnordered::new();
    let mut last_id = 0;
    let mut told = Told::default();
    let mut has_started = false;
    loop {
        // Calls first: when the child says that it waits, all it asked for is known to the bridge.
        tokio::select! {
            biased;
            Some((id, answer, turn)) = calls.next(), if !calls.is_empty() => {
                if told.is_over_with(id) {
                    clock.go_on();
                }
                match answer {
                    Ok(body) => link.send(ToWorker::Answer { id, ok: true }, body, turn),
                    Err(BridgeError::Tool(text)) => link.send(ToWorker::Answer { id, ok: false }, text.into(), turn),
                    Err(BridgeError::Stop(text)) => return Some(ScriptEnd::Stopped(text)),
                }
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
                    ToHost::Started { job } if job < link.job() => {}
                    ToHost::Started { job } if job > link.job() || has_started => {
                        return Some(broken("it began a script that it was not given"));
                    }
                    ToHost::Started { .. } => has_started = true,
                    ToHost::Call { .. } | ToHost::Waiting if !has_started => {}
                    ToHost::Call { id, .. } if id <= last_id => {
                        return Some(broken(&format!("it used the number {id} for a second call")));
                    }
                    ToHost::Call { tool, .. } if tool.len() > MAX_NAME => {
                        return Some(broken(&format!("it called a tool by a name of {} bytes", tool.len())));
                    }
                    ToHost::Call { id, tool } => {
                        last_id = id;
                        if announces_waiting && !link.is_read() {
                            // Nobody waits who leaves answers unread.
                            clock.go_on();
                            link.read().await;
                        }
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
                    // A script may forge it: what nobody is going to answer stops no clock.
                    ToHost::Waiting if announces_waiting && calls.is_empty() => {}
                    ToHost::Waiting if announces_waiting => {
                        told = Told { last: last_id, open: calls.len() };
                        clock.stop();
                        bridge.waiting().await;
                    }
                    ToHost::Waiting => return Some(broken("it announced a wait, and nobody had asked for that")),
                    ToHost::End { out_of_memory: true, .. } => return Some(ScriptEnd::OutOfMemory),
                    ToHost::End { code, .. } => return Some(ScriptEnd::Exit(code)),
                    ToHost::Ready => return Some(broken("it said twice that it is ready")),
                }
            },
        }
    }
}

/// The calls for whose answers a script said that it waits.
#[derive(Default)]
struct Told {
    /// The number of the last one.
    last: u64,
    /// How many have no answer.
    open: usize,
}

impl Told {
    /// Takes note of an answer. Whether it was the last that was waited for.
    fn is_over_with(&mut self, id: u64) -> bool {
        if id > self.last || self.open == 0 {
            return false;
        }
        self.open -= 1;
        self.open == 0
    }
}

/// The end of a worker that did what our own never does. Its script may have taken it over.
pub(super) fn broken(what: &str) -> ScriptEnd {
    ScriptEnd::Crashed(format!("the interpreter broke the protocol: {what}"))
}

/// A task that ends with its owner.
pub(super) struct Task<T>(JoinHandle<T>);

impl<T: Send + 'static> Task<T> {
    pub(super) fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
