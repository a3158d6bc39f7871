//! What a run may use up, and how much of it is left.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The tool calls of one run, those of scripts included.
#[derive(Debug)]
pub struct CallBudget {
    limit: u32,
    made: AtomicU32,
    overrun: AtomicBool,
}

/// There is no call left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Whether this is the first call that found it so.
    pub first: bool,
}

impl CallBudget {
    /// A budget of `limit` calls.
    pub fn new(limit: u32) -> Self {
        Self { limit, made: AtomicU32::new(0), overrun: AtomicBool::new(false) }
    }

    /// Takes one call out of the budget.
    pub fn take(&self) -> Result<(), Spent> {
        let one_more = |made| (made < self.limit).then_some(made + 1);
        match self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(()),
            Err(_) => Err(Spent { first: !self.overrun.swap(true, Ordering::Relaxed) }),
        }
    }

    /// Calls there were at the start.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether a call was refused for want of budget.
    pub fn is_overrun(&self) -> bool {
        self.overrun.load(Ordering::Relaxed)
    }
}
