//! Which records of a comparison count: a run that was cut off and made again is one run.

use std::collections::HashMap;

use super::format::{RuleStatus, RunRecord, Stop};

/// Whether a run says something about its mode: it came to its own end, it was judged, and no rule met a fault that is
/// not the model's.
pub fn is_decided(run: &RunRecord) -> bool {
    let cut_off = matches!(run.stop, Stop::ModelError | Stop::Interrupted);
    let Some(verdict) = &run.verify else { return false };
    !cut_off && verdict.rules.iter().all(|rule| rule.status != RuleStatus::Error)
}

/// The runs, without the undecided attempts at those that were made again, decided or at least later.
pub fn without_repeated(runs: Vec<RunRecord>) -> Vec<RunRecord> {
    let mut standing: HashMap<_, (bool, String)> = HashMap::new();
    for run in runs.iter().filter(|run| run.comparison.is_some()) {
        let attempt = (is_decided(run), run.run.clone());
        let best = standing.entry(place(run)).or_insert_with(|| attempt.clone());
        if *best < attempt {
            *best = attempt;
        }
    }
    let counts = |run: &RunRecord| {
        is_decided(run) || standing.get(&place(run)).is_none_or(|(decided, name)| !decided && *name == run.run)
    };
    let kept: Vec<bool> = runs.iter().map(counts).collect();
    runs.into_iter().zip(kept).filter_map(|(run, kept)| kept.then_some(run)).collect()
}

/// The place of a run in its comparison.
fn place(run: &RunRecord) -> (String, String, String, u32) {
    (run.domain.clone(), run.command.clone(), run.mode.clone(), run.number)
}
