//! What may be said of a ratio in one sentence: also that a script gains nothing, and that nothing can be said.

use super::statistics::NoInterval;
use super::summary::{ModeSummary, Ratio};
use super::table::{Names, mark};

/// The ratio with its range and its interval, and the sentence, as two lines.
pub(super) fn text(ratio: &Ratio, modes: &[&ModeSummary], names: Names) -> String {
    let Ratio { of, to, sandbox, tokens_read, low, high, interval, no_interval, .. } = ratio;
    let above = modes.iter().find(|summary| summary.mode == *of);
    let below = modes.iter().find(|summary| summary.mode == *to && summary.sandbox == *sandbox);
    let estimated = mark([above, below].iter().flatten().any(|summary| summary.estimated));
    let to = names.name(to, sandbox.as_deref());
    let range = if low == high { String::new() } else { format!(" ({} to {})", short(*low), short(*high)) };
    let certainty = match (interval, no_interval) {
        (Some([low, high]), _) => format!(", 95 % interval {} to {}", short(*low), short(*high)),
        (None, Some(NoInterval::IdenticalRuns)) => "; no interval: the runs of each mode are identical".to_owned(),
        (None, _) => "; no interval: that takes 3 runs of each mode".to_owned(),
    };
    let passes = match (above, below) {
        (Some(above), Some(below)) => passes(above, below, of, &to),
        _ => String::new(),
    };
    let sentence = sentence(ratio, of, &to, estimated);
    let tokens_read = short(*tokens_read);
    format!("tokens read, {of} ÷ {to}: {estimated}{tokens_read}{range}{certainty}\n  {sentence}{passes}\n")
}

fn sentence(ratio: &Ratio, of: &str, to: &str, estimated: &str) -> String {
    let Ratio { tokens_read, low, high, interval, .. } = ratio;
    // Without an interval the range is all there is to tell.
    let [low, high] = interval.unwrap_or([*low, *high]);
    // Runs that are all alike leave no doubt of themselves.
    if low <= 1.0 && high >= 1.0 && low < high {
        return "no difference can be claimed from these runs".to_owned();
    }
    let (more, less, factor, claim) = if *tokens_read >= 1.0 {
        (of, to, *tokens_read, "a script costs fewer tokens")
    } else {
        (to, of, 1.0 / tokens_read, "a script costs more tokens")
    };
    if factor < 1.05 {
        return format!("{to} read about as much as {of}: on this task a script gains nothing");
    }
    let factor = short(factor);
    format!("{more} read {estimated}{factor} × what {less} read: on this task {claim}")
}

/// A ratio with three figures or more.
pub(super) fn short(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.1}") }
}

/// Fewer tokens are no gain where the work is not done.
fn passes(above: &ModeSummary, below: &ModeSummary, of: &str, to: &str) -> String {
    if below.passed == 0 && above.passed == 0 {
        return "; no run of either passed".to_owned();
    }
    // Compares passed ÷ n of both without dividing.
    if below.passed * above.n >= above.passed * below.n {
        return String::new();
    }
    format!("; {to} passed {} of {}, {of} {} of {}", below.passed, below.n, above.passed, above.n)
}
