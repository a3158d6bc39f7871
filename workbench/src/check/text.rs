//! The report of `check` as text for people.

use std::fmt::Write as _;

use super::modes::ModeOutcome;
use super::rules::Mutated;
use super::{Level, Report};
use crate::printer::line;
use crate::report::table::{counted, grouped, table, trimmed};

/// Rules that are named in a row.
const NAMED: usize = 3;

/// Section after section, each finding with its hint, and the count of findings.
pub fn report(report: &Report) -> String {
    let mut text = format!("{} · {}\n", line(&report.domain), line(&report.source));
    for section in &report.sections {
        let _ = write!(text, "\n{}\n", section.name);
        for fact in &section.facts {
            let _ = writeln!(text, "  {}", line(fact));
        }
        match section.name {
            "rehearsal" => text.push_str(&modes(&report.modes)),
            "rules" => text.push_str(&mutations(&report.mutations)),
            _ => {}
        }
        for finding in &section.findings {
            let _ = writeln!(
                text,
                "  {}: {}\n    hint: {}",
                finding.level.name(),
                line(&finding.text),
                line(&finding.hint)
            );
        }
    }
    let _ = writeln!(text, "\n{}", count(report));
    text
}

fn count(report: &Report) -> String {
    let counts = Level::ALL.map(|level| report.count(level));
    let [short, warnings, notes] = counts;
    let findings = counts.iter().sum::<usize>();
    format!(
        "{}: {short} short, {}, {}",
        counted(findings as u64, "finding"),
        counted(warnings as u64, "warning"),
        counted(notes as u64, "note")
    )
}

fn modes(modes: &[ModeOutcome]) -> String {
    if modes.is_empty() {
        return String::new();
    }
    let mut rows = table(&["mode", "calls", "tokens read", "outcome"], &[0, 3]);
    for mode in modes {
        let tokens = format!("≈{}", grouped(mode.tokens_read));
        rows.add_row([line(&mode.mode), mode.calls.to_string(), tokens, line(&mode.in_row())]);
    }
    indented(&trimmed(&rows))
}

fn mutations(mutations: &[Mutated]) -> String {
    if mutations.is_empty() {
        return String::new();
    }
    let mut rows = table(&["what was done", "ways", "rules that failed"], &[0, 2]);
    let mut told = "";
    for Mutated { mutation, times, failed, undecided } in mutations {
        let mut noticed = named(failed);
        if !undecided.is_empty() {
            let _ = write!(noticed, " (undecided: {})", named(undecided));
        } else if failed.is_empty() {
            noticed.push_str(": right all the same, by the rules");
        }
        // What was done in several ways that ended differently is said once.
        let what = if told == mutation { String::new() } else { line(mutation) };
        rows.add_row([what, times.to_string(), noticed]);
        told = mutation;
    }
    indented(&trimmed(&rows))
}

fn named(rules: &[String]) -> String {
    let more = rules.len().saturating_sub(NAMED);
    let first = rules.iter().take(NAMED).map(|rule| line(rule)).collect::<Vec<_>>().join("; ");
    match (rules.len(), more) {
        (0, _) => "none".to_owned(),
        (_, 0) => first,
        _ => format!("{first}; {more} more"),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
