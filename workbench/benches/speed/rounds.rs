//! Rounds of two things in turn, and medians: a machine whose speed drifts slows both.

use std::time::{Duration, Instant};

/// Two things, measured in turn.
pub(crate) struct Pair {
    /// Median of one.
    pub(crate) ours: Duration,
    /// Median of the other.
    pub(crate) theirs: Duration,
    /// Median of the ratios, round by round: not always the ratio of the medians.
    pub(crate) ratio: f64,
}

/// Runs both once unmeasured, then `rounds` times in turn; each tells how long one unit of it took.
pub(crate) fn alternate(
    rounds: usize,
    mut ours: impl FnMut() -> Duration,
    mut theirs: impl FnMut() -> Duration,
) -> Pair {
    _ = (ours(), theirs());
    let pairs: Vec<(Duration, Duration)> = (0..rounds).map(|_| (ours(), theirs())).collect();
    Pair {
        ours: median(pairs.iter().map(|pair| pair.0).collect()),
        theirs: median(pairs.iter().map(|pair| pair.1).collect()),
        ratio: median_number(pairs.iter().map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()).collect()),
    }
}

/// Runs `one` once unmeasured, then `rounds` times.
pub(crate) fn repeat(rounds: usize, mut one: impl FnMut() -> Duration) -> Duration {
    _ = one();
    median((0..rounds).map(|_| one()).collect())
}

/// How long one of `count` takes that `work` does together.
pub(crate) fn each(count: u32, work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed() / count
}

/// The one in the middle.
pub(crate) fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}

fn median_number(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
