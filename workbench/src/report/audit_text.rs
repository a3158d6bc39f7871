//! A replay's differences on a terminal, and in one line.

use std::fmt::Write as _;

use serde_json::Value;

use crate::artifacts::How;
use crate::printer::plain;
use crate::results::format::{RuleStatus, Verdict};

use super::audit::{Audit, Difference, cut};
use super::table::got_text;

/// Letters of a figure that are shown: the model's last words are one.
const FIGURE: usize = 90;

/// Differences that are shown; the others are counted.
const SHOWN: usize = 20;

/// What differs, and a last line that says whether anything does.
pub fn text(audit: &Audit) -> String {
    let mut text = format!("replay of {} · {} {} · said by {}", audit.run, audit.domain, audit.mode, audit.model);
    let _ = match audit.source == audit.recorded_source {
        true => writeln!(text, " · data from {}", audit.source),
        false => writeln!(text, " · data from {}, in the run from {}", audit.source, audit.recorded_source),
    };
    for difference in audit.differences.iter().take(SHOWN) {
        text.push_str(&difference_text(difference));
    }
    more(&mut text, audit.differences.len(), "results");
    if audit.replayed_turns < audit.turns {
        let _ = writeln!(text, "\nthe replay ended after turn {} of {}", audit.replayed_turns, audit.turns);
    }
    text.push_str(&verdicts_text(audit));
    text.push_str(&files_text(audit));
    text.push_str(&figures_text(audit));
    let _ = writeln!(text, "\nnot checked, since no replay tells: {}", audit.unchecked.join(", "));
    let _ = writeln!(text, "{}", last_line(audit));
    plain(&text)
}

fn more(text: &mut String, count: usize, what: &str) {
    if count > SHOWN {
        let _ = writeln!(text, "\n{} more {what} differ; `--format json` has them all", count - SHOWN);
    }
}

fn difference_text(difference: &Difference) -> String {
    let Difference { turn, call, tool, arguments, after, recorded, replayed } = difference;
    format!(
        "\nturn {turn}, call {call}: {tool} {}\n  differs after {after} letters\n  record  {}\n  now     {}\n",
        line(arguments),
        line(recorded),
        line(replayed)
    )
}

/// Several lines as one.
fn line(text: &str) -> String {
    text.replace('\n', "⏎")
}

fn verdicts_text(audit: &Audit) -> String {
    let verdicts = &audit.verdict;
    if verdicts.is_same() {
        return String::new();
    }
    let (old, new) = (verdicts.recorded.as_ref(), verdicts.replayed.as_ref());
    let mut text = format!("\nthe verdict differs: {} in the record, {} now\n", verdict_text(old), verdict_text(new));
    for name in verdicts.rules.iter().take(SHOWN) {
        let _ =
            writeln!(text, "  {}: {} in the record, {} now", line(name), rule_text(old, name), rule_text(new, name));
    }
    more(&mut text, verdicts.rules.len(), "rules");
    text
}

fn verdict_text(verdict: Option<&Verdict>) -> String {
    match verdict {
        None => "not judged".to_owned(),
        Some(Verdict { ok, points, max_points, .. }) => {
            format!("{} with {points} of {max_points} points", if *ok { "verified" } else { "not verified" })
        }
    }
}

fn rule_text(verdict: Option<&Verdict>, name: &str) -> String {
    let rule = verdict.and_then(|verdict| verdict.rules.iter().find(|rule| rule.name == name));
    match rule {
        None => "not there".to_owned(),
        Some(rule) => {
            let status = match rule.status {
                RuleStatus::Pass => "pass",
                RuleStatus::Fail => "fail",
                RuleStatus::Error => "error",
            };
            format!("{status} ({})", line(&got_text(&rule.got)))
        }
    }
}

fn files_text(audit: &Audit) -> String {
    let mut text = String::new();
    for file in audit.file_differences.iter().take(SHOWN) {
        let how = match file.how {
            How::Differs => "has other bytes",
            How::OnlyRecorded => "is in the record only",
            How::OnlyReplayed => "is in the replay only",
            How::NotRead => "is no plain file in the record, and was not read",
        };
        let _ = writeln!(text, "out/{} {how}", line(&file.file));
    }
    more(&mut text, audit.file_differences.len(), "files");
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn figures_text(audit: &Audit) -> String {
    let figures = audit.figures.iter().take(SHOWN);
    let mut text: String = figures
        .map(|figure| {
            let shown = |value: &Value| line(&cut(&value.to_string(), FIGURE));
            let (recorded, expected) = (shown(&figure.recorded), shown(&figure.expected));
            format!("{} is {recorded} in run.json, and must be {expected}\n", figure.name)
        })
        .collect();
    more(&mut text, audit.figures.len(), "figures");
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// `same: …` or `different: …`.
fn last_line(audit: &Audit) -> String {
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let turns = counted(audit.turns, "turn");
    let unrecorded = match audit.unrecorded {
        0 => String::new(),
        count => format!("; the record ends before the results of {}", counted(count, "call")),
    };
    if audit.same {
        let (results, files) = (counted(audit.results, "result"), counted(audit.files, "file"));
        return match (&audit.verdict.recorded, &audit.verdict.replayed) {
            (None, None) => format!("same: {results} of {turns} and {files}; neither was judged{unrecorded}"),
            (None, replayed) => format!(
                "same: {results} of {turns} and {files}; the run was not judged, its replay is {}{unrecorded}",
                verdict_text(replayed.as_ref())
            ),
            (recorded, _) => format!(
                "same: {results} of {turns}, {files} and the verdict, {}{unrecorded}",
                verdict_text(recorded.as_ref())
            ),
        };
    }
    let mut parts = vec![format!("{} of {} of {turns}", audit.differences.len(), counted(audit.results, "result"))];
    if audit.unreached > 0 {
        parts.push(format!("{} not reached", counted(audit.unreached, "result")));
    }
    if !audit.verdict.is_same() {
        parts.push("the verdict".to_owned());
    }
    if !audit.file_differences.is_empty() {
        parts.push(counted(audit.file_differences.len(), "file"));
    }
    if !audit.figures.is_empty() {
        parts.push(counted(audit.figures.len(), "figure"));
    }
    format!("different: {}{unrecorded}", parts.join(", "))
}
