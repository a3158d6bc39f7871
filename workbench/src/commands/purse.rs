//! `compare --max-total-cost`: what a whole comparison may cost. `--max-cost` is a budget of each run, and ends one on
//! its way; this one ends none, but starts no more.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::prices::whole_nanodollars;
use crate::printer;
use crate::report::table::dollars;
use crate::results::format::RunRecord;

/// The money of a comparison.
pub(super) struct Purse {
    limit: f64,
    state: Mutex<State>,
}

struct State {
    /// US dollars; nothing when a run's cost is not known.
    spent: Option<f64>,
    /// Runs that were not started.
    refused: usize,
}

impl Purse {
    /// A purse of `limit` US dollars out of which `made` were paid.
    pub(super) fn new<'a>(limit: f64, made: impl Iterator<Item = &'a RunRecord>) -> Self {
        let purse = Self { limit, state: Mutex::new(State { spent: Some(0.0), refused: 0 }) };
        made.for_each(|run| purse.pay(run));
        purse
    }

    /// Whether one more run may be started.
    pub(super) fn allows_one_more(&self) -> bool {
        let mut state = self.state();
        // What is not known may be too much.
        let allows = state.spent.is_some_and(|spent| spent < self.limit);
        state.refused += usize::from(!allows);
        allows
    }

    /// Pays for a run.
    pub(super) fn pay(&self, run: &RunRecord) {
        let cost = if run.model_turns == 0 { Some(0.0) } else { run.cost_usd };
        let mut state = self.state();
        state.spent = state.spent.zip(cost).map(|(spent, cost)| whole_nanodollars(spent + cost));
    }

    /// Says that runs were not started, where that is so.
    pub(super) fn tell(&self) {
        let State { spent, refused } = *self.state();
        if refused > 0 {
            // No limit is more than what is not known.
            let way_on = if spent.is_some() { "with more" } else { "without the limit" };
            let spent = spent.map_or_else(|| "an amount that is not known".to_owned(), dollars);
            printer::note(&format!(
                "stopped: the comparison may cost {} (`--max-total-cost`), and has cost {spent}; {} not \
                 started, and `--resume` {way_on} makes them",
                dollars(self.limit),
                if refused == 1 { "1 run was".to_owned() } else { format!("{refused} runs were") }
            ));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
