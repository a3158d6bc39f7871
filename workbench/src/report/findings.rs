//! What may be said of a ratio in one sentence: also that a script gains nothing, and that nothing can be said.

use super::statistics::NoInterval;
use super::summary::{ModeSummary, Ratio};
use super::table::{Names, mark};

/// What is claimed of the mode below the line.
struct Claims {
    fewer: &'static str,
    more: &'static str,
    equal: &'static str,
}

/// Of a script, beside tools that are called step by step.
const SCRIPT: Claims = Claims {
    fewer: "a script costs fewer tokens",
    more: "a script costs more tokens",
    equal: "a script gains nothing",
};

/// Of a script that the provider runs, beside one that runs here.
const PROVIDER: Claims = Claims {
    fewer: "a script costs fewer tokens where the provider runs it",
    more: "a script costs more tokens where the provider runs it",
    equal: "a script costs the same wherever it runs",
};

/// The ratio with its range and its interval, and the sentence, as two lines.
pub(super) fn text(ratio: &Ratio, modes: &[&ModeSummary], names: Names) -> String {
    let Ratio { tokens_read, low, high, interval, no_interval, .. } = ratio;
    let mode = |name: &str, sandbox: &Option<String>| {
        modes.iter().find(|summary| summary.mode == name && summary.sandbox == *sandbox)
    };
    let (above, below) = (mode(&ratio.of, &ratio.of_sandbox), mode(&ratio.to, &ratio.sandbox));
    let estimated = mark([above, below].iter().flatten().any(|summary| summary.estimated));
    let [of, to] = &names.of_ratio(ratio);
    let range = if low == high { String::new() } else { format!(" ({} to {})", short(*low), short(*high)) };
    let certainty = match (interval, no_interval) {
        (Some([low, high]), _) => format!(", 95 % interval {} to {}", short(*low), short(*high)),
        (None, Some(NoInterval::IdenticalRuns)) => "; no interval: the runs of each mode are identical".to_owned(),
        (None, _) => "; no interval: that takes 3 runs of each mode".to_owned(),
    };
    let passes = match (above, below) {
        (Some(above), Some(below)) => passes(above, below, of, to),
        _ => String::new(),
    };
    let sentence = sentence(ratio, of, to, estimated);
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
    let claims = if ratio.of == "code" { &PROVIDER } else { &SCRIPT };
    let (more, less, factor, claim) = if *tokens_read >= 1.0 {
        (of, to, *tokens_read, claims.fewer)
    } else {
        (to, of, 1.0 / tokens_read, claims.more)
    };
    if factor < 1.05 {
        return format!("{to} read about as much as {of}: on this task {}", claims.equal);
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
