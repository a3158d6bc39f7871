//! What happens in a run, as it happens: one closed enum.
//!
//! The runner emits and never prints; the console draws progress from these, the results store
//! keeps the ledger and the per-turn figures.

use std::sync::Arc;

use crate::results::format::{CallRecord, RunRecord, Turn};

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run's folder exists and the first request is about to go out.
    RunStarted(RunKey),
    /// The model answered; the figures are those of this turn, and counted locally where `estimated`.
    TurnEnded {
        /// Which run.
        key: RunKey,
        /// The figures.
        turn: Turn,
        /// Whether they were counted locally.
        estimated: bool,
    },
    /// A tool call ended, made by the model or by a script.
    CallEnded(RunKey, CallRecord),
    /// A script was handed to the sandbox; numbers start at 1.
    ScriptStarted(RunKey, u32),
    /// A script ended.
    ScriptEnded(RunKey, u32),
    /// The run ended and was judged.
    RunEnded(RunKey, Box<RunRecord>),
}

/// Which run of a command an event belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// Name of the domain.
    pub domain: String,
    /// Name of the mode.
    pub mode: String,
    /// Counts the runs of this mode in this command, from 1.
    pub number: u32,
}

/// Where events go. Cheap to clone; never blocks.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(Event) + Send + Sync>);

impl Listener {
    /// Calls `listen` with every event.
    pub fn new(listen: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listen))
    }

    /// Hears nothing.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Tells what happened.
    pub fn emit(&self, event: Event) {
        (self.0)(event);
    }
}
