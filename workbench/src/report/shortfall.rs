//! What fell short, and why, in a few lines below the tables of a report.

use crate::printer::line;
use crate::results::format::{RuleStatus, RunRecord};

use super::summary::passed;
use super::table::{Names, got_text};

/// What fell short in one mode for one reason.
struct Shortfall {
    mode: String,
    word: &'static str,
    reason: String,
    rules: Vec<String>,
    runs: Vec<String>,
}

/// The rules that fell short: a line for each mode and reason, since one missing page fails many rules.
pub(super) fn text(runs: &[&RunRecord], names: Names) -> String {
    let mut shortfalls: Vec<Shortfall> = Vec::new();
    for run in runs.iter().filter(|run| !passed(run)) {
        let Some(verdict) = &run.verify else {
            note(&mut shortfalls, run, names, "was not judged", line(reason_of(run)), None);
            continue;
        };
        for rule in &verdict.rules {
            let word = match rule.status {
                RuleStatus::Pass => continue,
                RuleStatus::Fail => "fell short",
                RuleStatus::Error => "undecided",
            };
            note(&mut shortfalls, run, names, word, got_text(&rule.got), Some(&rule.name));
        }
    }
    let lines = shortfalls.iter().map(|shortfall| {
        let Shortfall { mode, word, reason, rules, runs } = shortfall;
        let times = if runs.len() > 1 { format!(", in {} runs", runs.len()) } else { String::new() };
        match rules.as_slice() {
            [] => format!("\n{mode} {word}: {reason}{times}"),
            [first, second, third, more @ ..] if !more.is_empty() => {
                format!("\n{mode} {word}: {first}; {second}; {third}; {} more (got {reason}){times}", more.len())
            }
            few => format!("\n{mode} {word}: {} (got {reason}){times}", few.join("; ")),
        }
    });
    let text: String = lines.collect();
    if text.is_empty() { text } else { text + "\n" }
}

fn note(
    shortfalls: &mut Vec<Shortfall>,
    run: &RunRecord,
    names: Names,
    word: &'static str,
    reason: String,
    rule: Option<&str>,
) {
    let known = shortfalls
        .iter_mut()
        .find(|known| known.mode == names.of_run(run) && known.word == word && known.reason == reason);
    let shortfall = match known {
        Some(known) => known,
        None => {
            let (mode, rules, runs) = (names.of_run(run), Vec::new(), Vec::new());
            shortfalls.push(Shortfall { mode, word, reason, rules, runs });
            let last = shortfalls.len() - 1;
            &mut shortfalls[last]
        }
    };
    for (list, name) in [(&mut shortfall.rules, rule), (&mut shortfall.runs, Some(run.run.as_str()))] {
        if let Some(name) = name
            && !list.iter().any(|known| known == name)
        {
            list.push(name.to_owned());
        }
    }
}

/// Why a run ended without a verdict: the last line of what failed, which is where a traceback says it.
fn reason_of(run: &RunRecord) -> &str {
    let lines = run.stop_detail.as_deref().unwrap_or_default().lines();
    lines.map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it was interrupted")
}
