//! The report on a terminal.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use crate::results::format::{RuleStatus, RunRecord};

use super::summary::{ModeSummary, Report, Spread, calls_of, mode_rank, passed, undecided};

/// The whole report as text: one row a run, one row a mode, tokens by turn, ratios, what fell short.
pub fn report(report: &Report) -> String {
    if report.runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let mut text = String::new();
    for (domain, model, source, profile) in settings_of(report) {
        let alike = |run: &&RunRecord| {
            run.domain == domain && run.model == model && run.source == source && run.profile == profile
        };
        let mut runs: Vec<&RunRecord> = report.runs.iter().filter(alike).collect();
        runs.sort_by_key(|run| mode_rank(&run.mode));
        let modes: Vec<&ModeSummary> = report
            .modes
            .iter()
            .filter(|mode| {
                mode.domain == domain && mode.model == model && mode.source == source && mode.profile == profile
            })
            .collect();
        let _ = writeln!(text, "{domain} · {model} · {source} · {profile} build\n");
        let _ = writeln!(text, "{}\n", runs_table(&runs));
        let _ = writeln!(text, "{}\n", modes_table(&modes));
        let _ = writeln!(text, "{}", turns_text(&runs));
        for ratio in report
            .ratios
            .iter()
            .filter(|ratio| ratio.domain == domain && ratio.model == model && ratio.source == source)
        {
            let _ = writeln!(
                text,
                "tokens read, {} ÷ {}: {}{:.1}{}",
                ratio.of,
                ratio.to,
                mark(runs.iter().any(|run| run.estimated)),
                ratio.tokens_read,
                if ratio.low == ratio.high {
                    String::new()
                } else {
                    format!(" ({:.1} to {:.1})", ratio.low, ratio.high)
                },
            );
        }
        text.push_str(&short_text(&runs));
        if model == "rehearsal" {
            text.push_str(
                "\nrehearsal of the lesson's runs: scripted turns, no model was asked; tokens are counted locally (≈)\n",
            );
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// One line about a run, for progress and `run`.
pub fn run_line(run: &RunRecord) -> String {
    format!(
        "{} {}: {} turns, {}, {}{} tokens read, {:.1} s, {}",
        run.domain,
        run.mode,
        run.model_turns,
        calls_text(run),
        mark(run.estimated),
        grouped(run.tokens_read),
        run.seconds,
        verdict_text(run)
    )
}

/// `passed` or `fell short`, or why neither: `undecided`, `not judged`.
pub fn verdict_text(run: &RunRecord) -> &'static str {
    match &run.verify {
        Some(verdict) if verdict.ok => "passed",
        Some(_) if undecided(run) => "undecided",
        Some(_) => "fell short",
        None => "not judged",
    }
}

/// A number with its thousands apart: `267,531`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `≈` before a number that was counted locally.
pub fn mark(estimated: bool) -> &'static str {
    if estimated { "≈" } else { "" }
}

/// A borderless table with numbers to the right.
pub fn table(head: &[&str], left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2)).set_constraint(ColumnConstraint::ContentWidth);
        if !left.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn settings_of(report: &Report) -> Vec<(String, String, String, String)> {
    let mut settings = Vec::new();
    for run in &report.runs {
        let setting = (run.domain.clone(), run.model.clone(), run.source.clone(), run.profile.clone());
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings
}

fn runs_table(runs: &[&RunRecord]) -> String {
    let mut table =
        table(&["run", "mode", "turns", "calls or scripts", "tokens read", "seconds", "verdict"], &[0, 1, 6]);
    for run in runs {
        table.add_row([
            run.run.clone(),
            run.mode.clone(),
            run.model_turns.to_string(),
            calls_text(run),
            format!("{}{}", mark(run.estimated), grouped(run.tokens_read)),
            format!("{:.1}", run.seconds),
            verdict_text(run).to_owned(),
        ]);
    }
    trimmed(&table)
}

fn modes_table(modes: &[&ModeSummary]) -> String {
    let mut table = table(&["mode", "passed", "turns", "calls", "scripts", "tokens read", "seconds", ""], &[0, 1, 7]);
    for mode in modes {
        let spread = |spread: &Spread| range_text(spread, |value| grouped(value.round() as u64));
        let errors = if mode.errors > 0 { format!(", {} undecided", mode.errors) } else { String::new() };
        table.add_row([
            mode.mode.clone(),
            format!("{} of {}{errors}", mode.passed, mode.n),
            spread(&mode.model_turns),
            spread(&mode.calls),
            spread(&mode.scripts),
            format!("{}{}", mark(mode.estimated), spread(&mode.tokens_read)),
            range_text(&mode.seconds, |value| format!("{value:.1}")),
            if mode.identical { "runs identical".to_owned() } else { String::new() },
        ]);
    }
    trimmed(&table)
}

fn range_text(spread: &Spread, text: impl Fn(f64) -> String) -> String {
    if text(spread.min) == text(spread.max) {
        text(spread.median)
    } else {
        format!("{} ({} to {})", text(spread.median), text(spread.min), text(spread.max))
    }
}

/// Tokens read on each turn, one line a mode, of its first run.
fn turns_text(runs: &[&RunRecord]) -> String {
    let mut text = "tokens read on each turn, first run of each mode\n".to_owned();
    let mut shown: Vec<&str> = Vec::new();
    for run in runs {
        if shown.contains(&run.mode.as_str()) {
            continue;
        }
        shown.push(&run.mode);
        let turns: Vec<String> = run.per_turn.iter().map(|turn| short_number(turn.tokens_read)).collect();
        let _ = writeln!(text, "  {:<7} {}", run.mode, abridged(&turns));
    }
    text
}

/// At most sixteen turns; what is left out is counted.
fn abridged(turns: &[String]) -> String {
    match turns {
        [first @ .., last] if turns.len() > 16 => {
            format!("{} … {} more … {last}", first[..14].join(" "), turns.len() - 15)
        }
        _ => turns.join(" "),
    }
}

fn short_number(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{:.1}k", number as f64 / 1000.0) }
}

/// What fell short in one mode for one reason.
struct Shortfall {
    mode: String,
    word: &'static str,
    reason: String,
    rules: Vec<String>,
    runs: Vec<String>,
}

/// The rules that fell short: a line for each mode and reason, since one missing page fails many rules.
fn short_text(runs: &[&RunRecord]) -> String {
    let mut shortfalls: Vec<Shortfall> = Vec::new();
    for run in runs.iter().filter(|run| !passed(run)) {
        let Some(verdict) = &run.verify else {
            note(&mut shortfalls, run, "was not judged", reason_of(run).to_owned(), None);
            continue;
        };
        for rule in &verdict.rules {
            let word = match rule.status {
                RuleStatus::Pass => continue,
                RuleStatus::Fail => "fell short",
                RuleStatus::Error => "undecided",
            };
            note(&mut shortfalls, run, word, got_text(&rule.got), Some(&rule.name));
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

fn note(shortfalls: &mut Vec<Shortfall>, run: &RunRecord, word: &'static str, reason: String, rule: Option<&str>) {
    let known =
        shortfalls.iter_mut().find(|known| known.mode == run.mode && known.word == word && known.reason == reason);
    let shortfall = match known {
        Some(known) => known,
        None => {
            let (mode, rules, runs) = (run.mode.clone(), Vec::new(), Vec::new());
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

/// What a rule found, in at most 200 characters.
pub fn got_text(got: &serde_json::Value) -> String {
    let text = match got {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn calls_text(run: &RunRecord) -> String {
    let (count, word) = if run.scripts_run > 0 { (run.scripts_run, "script") } else { (calls_of(run), "call") };
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The table without the blanks that alignment leaves at the ends of lines.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
