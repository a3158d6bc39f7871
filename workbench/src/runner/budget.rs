//! What a run may use up, and how much of it is left.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::results::format::{Budgets, RunRecord};

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

/// Which of its budgets a run has used up after this time, and how much of it, in words; nothing while it may ask again.
pub(super) fn used_up(record: &RunRecord, elapsed: Duration) -> Option<String> {
    let Budgets { max_tokens_read, max_cost_usd, max_seconds } = record.budgets;
    if let Some(limit) = max_tokens_read.filter(|limit| record.tokens_read >= *limit) {
        let read = record.tokens_read;
        return Some(format!("this run may read {limit} tokens (`--max-tokens-read`), and has read {read}"));
    }
    if let Some(limit) = max_cost_usd.filter(|_| record.model_turns > 0) {
        match record.cost_usd {
            // A budget that cannot be kept is used up.
            None => {
                return Some(format!(
                    "this run may cost ${limit} (`--max-cost`), and what it has cost is not known any more"
                ));
            }
            Some(cost) if cost >= limit => {
                return Some(format!("this run may cost ${limit} (`--max-cost`), and has cost ${cost}"));
            }
            Some(_) => {}
        }
    }
    max_seconds.filter(|limit| elapsed >= Duration::from_secs(*limit)).map(|limit| out_of_time(limit, elapsed))
}

/// What is said of a run that has used up its time.
pub(super) fn out_of_time(limit: u64, elapsed: Duration) -> String {
    let took = elapsed.as_secs_f64();
    format!("this run may take {limit} seconds (`--max-seconds`), and has taken {took:.1}")
}

/// When the time of a run that began then is up.
pub(super) fn end_of_time(budgets: &Budgets, began: Instant) -> Option<Instant> {
    // An end that no clock can tell is none.
    began.checked_add(Duration::from_secs(budgets.max_seconds?))
}
