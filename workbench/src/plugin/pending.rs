//! The calls a worker has not answered yet, and how it died.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{oneshot, watch};

use crate::death::Death;

/// How a message ends.
pub(super) type End = Result<Answered, Unanswered>;

/// Why a message got no answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unanswered {
    /// The worker died.
    Died(Death),
    /// The call took too long, and the worker was killed for it.
    TimedOut,
    /// The plugin did not understand the message; the text is its own.
    Refused(String),
}

/// What the plugin answered.
#[derive(Debug)]
pub(super) struct Answered {
    /// A message of `plugin_api::wire`.
    pub(super) message: Bytes,
    /// The last document that the host gave the call.
    given: Option<Given>,
    /// A request of the call is not answered yet.
    is_asking: bool,
}

/// A JSON document that the host gave a call, and the number under which the plugin asked for it. Kept here, so that a
/// plugin need not send it back to answer with it: what the plugin makes of its own copy changes nothing.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) number: u64,
    pub(super) document: Bytes,
}

impl Answered {
    /// The document that the plugin says it hands on, or what is wrong with that.
    pub(super) fn unchanged(self, number: u64) -> Result<Bytes, String> {
        let reason = match self.given {
            _ if self.is_asking => "one of its requests is still open".to_owned(),
            Some(given) if given.number == number => return Ok(given.document),
            Some(given) => format!("document {} is the last one it was given", given.number),
            None => "it was given none".to_owned(),
        };
        Err(format!("answered that it hands on document {number} unchanged, but {reason}"))
    }
}

/// The calls a worker has not answered yet, and how it died.
pub(super) struct PendingCalls {
    calls: Mutex<HashMap<u64, Pending>>,
    death: watch::Sender<Option<Death>>,
}

struct Pending {
    answer: oneshot::Sender<End>,
    /// Upcalls the call waits for.
    upcalls: watch::Sender<usize>,
    given: Option<Given>,
}

impl Default for PendingCalls {
    fn default() -> Self {
        Self { calls: Mutex::default(), death: watch::Sender::new(None) }
    }
}

/// Where a call hears of its end, and how many upcalls it waits for.
type Entered = (oneshot::Receiver<End>, watch::Receiver<usize>);

impl PendingCalls {
    /// Opens a call; an error when the worker has died.
    pub(super) fn enter(&self, id: u64) -> Result<Entered, Unanswered> {
        let (answer, receiver) = oneshot::channel();
        let (upcalls, counter) = watch::channel(0);
        let mut calls = self.calls();
        // Looked at under the lock, so that no call enters behind `fail_all`.
        if self.is_dead() {
            return Err(self.died());
        }
        calls.insert(id, Pending { answer, upcalls, given: None });
        Ok((receiver, counter))
    }

    /// An error for a call that is not under way, as a worker answers each call once.
    pub(super) fn resolve(&self, id: u64, message: Result<Bytes, Unanswered>) -> io::Result<()> {
        let pending = self.calls().remove(&id);
        let Pending { answer, upcalls, given } =
            pending.ok_or_else(|| io::Error::other(format!("it answered call {id}, which is not under way")))?;
        let is_asking = *upcalls.borrow() > 0;
        // Whoever asked may have gone.
        let _unheard = answer.send(message.map(|message| Answered { message, given, is_asking }));
        Ok(())
    }

    /// Whether the call is still under way; if so, its clock now stands.
    pub(super) fn upcall_started(&self, call: u64) -> bool {
        self.calls().get(&call).map(|pending| pending.upcalls.send_modify(|waiting| *waiting += 1)).is_some()
    }

    /// An upcall was answered, with a JSON document where one was `given`.
    pub(super) fn upcall_ended(&self, call: u64, given: Option<Given>) {
        if let Some(pending) = self.calls().get_mut(&call) {
            // Of requests that were under way at once, either may end last: the number says which the plugin takes for it.
            let last = pending.given.as_ref().map_or(0, |last| last.number);
            pending.given = given.filter(|given| given.number >= last).or(pending.given.take());
            pending.upcalls.send_modify(|waiting| *waiting -= 1);
        }
    }

    /// The worker has died: so end all calls that are under way, and all that would enter.
    pub(super) fn fail_all(&self, death: &Death) {
        let mut calls = self.calls();
        self.death.send_replace(Some(death.clone()));
        for (_, pending) in calls.drain() {
            let _unheard = pending.answer.send(Err(Unanswered::Died(death.clone())));
        }
    }

    /// Whether the worker has died.
    pub(super) fn is_dead(&self) -> bool {
        self.death.borrow().is_some()
    }

    /// Waits until the worker has died.
    pub(super) async fn death(&self) {
        let mut death = self.death.subscribe();
        // The sender lives in `self`, so there is an end to wait for.
        let _gone = death.wait_for(Option::is_some).await;
    }

    /// Why a call of a worker that has died gets no answer.
    pub(super) fn died(&self) -> Unanswered {
        Unanswered::Died(self.death.borrow().clone().unwrap_or_else(|| "it ended".into()))
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
