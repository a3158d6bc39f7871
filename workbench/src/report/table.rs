//! The report on a terminal.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use crate::model::{rehearsal, replay};
use crate::printer::plain;
use crate::results::format::RunRecord;

use super::shortfall;
use super::summary::{ModeSummary, Ratio, Report, Setting, Spread, calls_of, mode_rank, undecided};

/// The whole report as text: one row a run, one row a mode, tokens by turn, ratios, what fell short.
pub fn report(report: &Report) -> String {
    if report.runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let mut settings: Vec<Setting> = Vec::new();
    for setting in report.runs.iter().map(Setting::of) {
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let parts: Vec<String> = settings.iter().map(|setting| part(report, setting, &settings)).collect();
    plain(&format!("{}\n", parts.join("\n").trim_end()))
}

/// What is said of the runs of one setting.
fn part(report: &Report, setting: &Setting, settings: &[Setting]) -> String {
    let mut runs: Vec<&RunRecord> = report.runs.iter().filter(|run| Setting::of(run) == *setting).collect();
    runs.sort_by_key(|run| mode_rank(&run.mode));
    let modes: Vec<&ModeSummary> = report.modes.iter().filter(|mode| mode.setting == *setting).collect();
    let names = Names::of(&runs);
    let Setting { domain, model, source, profile, .. } = setting;
    let mut text = format!("{domain} · {model} · {source} · {profile} build{}\n\n", limits_apart(setting, settings));
    let _ = writeln!(text, "{}\n", runs_table(&runs, names));
    let _ = writeln!(text, "{}\n", modes_table(&modes, names));
    let _ = writeln!(text, "{}", turns_text(&runs, names));
    let estimated = mark(runs.iter().any(|run| run.estimated));
    for Ratio { of, to, sandbox, tokens_read, low, high, .. } in
        report.ratios.iter().filter(|ratio| ratio.setting == *setting)
    {
        let range = if low == high { String::new() } else { format!(" ({low:.1} to {high:.1})") };
        let to = names.name(to, sandbox.as_deref());
        let _ = writeln!(text, "tokens read, {of} ÷ {to}: {estimated}{tokens_read:.1}{range}");
    }
    text.push_str(&shortfall::text(&runs, names));
    if model == rehearsal::NAME {
        text.push_str(&rehearsal_text(&runs));
    }
    if let Some(run) = model.strip_prefix(replay::PREFIX) {
        text.push_str(&replay_text(run, setting));
    }
    text
}

/// What the figures of a rehearsal are, in place of any claim.
fn rehearsal_text(runs: &[&RunRecord]) -> String {
    let of = runs.iter().find_map(|run| run.rehearsal_of.as_deref()).map(|of| format!(" of {of}")).unwrap_or_default();
    format!("\nrehearsal{of}: scripted turns, no model was asked; tokens are counted locally (≈)\n")
}

/// What the figures of a replay are.
fn replay_text(run: &str, setting: &Setting) -> String {
    let speaker = setting.settings.get(replay::SAID_BY).map(String::as_str).unwrap_or_default();
    format!(
        "\nreplay of {run}: what {speaker} said there was said again, no model was asked; tokens are those of its record, \
         seconds those of the replay\n"
    )
}

/// The limits by which a setting differs from others of its domain.
fn limits_apart(setting: &Setting, settings: &[Setting]) -> String {
    let others: Vec<&Setting> = settings.iter().filter(|other| other.domain == setting.domain).collect();
    let apart = |key: &String, value: &u64| others.iter().any(|other| other.limits.get(key) != Some(value));
    let limits = setting.limits.iter().filter(|(key, value)| apart(key, value));
    limits.map(|(key, value)| format!(" · {key} {value}")).collect()
}

/// What modes are called: with their sandbox, where there are several.
#[derive(Clone, Copy)]
pub(super) struct Names {
    with_sandbox: bool,
}

impl Names {
    fn of(runs: &[&RunRecord]) -> Self {
        let mut sandboxes: Vec<&String> = runs.iter().filter_map(|run| run.sandbox.as_ref()).collect();
        sandboxes.sort();
        sandboxes.dedup();
        Self { with_sandbox: sandboxes.len() > 1 }
    }

    fn name(self, mode: &str, sandbox: Option<&str>) -> String {
        match sandbox {
            Some(sandbox) if self.with_sandbox => format!("{mode} ({sandbox})"),
            _ => mode.to_owned(),
        }
    }

    pub(super) fn of_run(self, run: &RunRecord) -> String {
        self.name(&run.mode, run.sandbox.as_deref())
    }
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
        None => "not judged",
        Some(_) if undecided(run) => "undecided",
        Some(verdict) if verdict.ok => "passed",
        Some(_) => "fell short",
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

fn runs_table(runs: &[&RunRecord], names: Names) -> String {
    let mut table =
        table(&["run", "mode", "turns", "calls or scripts", "tokens read", "seconds", "verdict"], &[0, 1, 6]);
    for run in runs {
        table.add_row([
            run.run.clone(),
            names.of_run(run),
            run.model_turns.to_string(),
            calls_text(run),
            format!("{}{}", mark(run.estimated), grouped(run.tokens_read)),
            format!("{:.1}", run.seconds),
            verdict_text(run).to_owned(),
        ]);
    }
    trimmed(&table)
}

fn modes_table(modes: &[&ModeSummary], names: Names) -> String {
    let mut table = table(&["mode", "passed", "turns", "calls", "scripts", "tokens read", "seconds", ""], &[0, 1, 7]);
    for mode in modes {
        let spread = |spread: &Option<Spread>| range_text(spread.as_ref(), |value| grouped(value.round() as u64));
        let errors = if mode.errors > 0 { format!(", {} undecided", mode.errors) } else { String::new() };
        table.add_row([
            names.name(&mode.mode, mode.sandbox.as_deref()),
            format!("{} of {}{errors}", mode.passed, mode.n),
            spread(&mode.model_turns),
            spread(&mode.calls),
            spread(&mode.scripts),
            format!("{}{}", mark(mode.estimated && mode.n > 0), spread(&mode.tokens_read)),
            range_text(mode.seconds.as_ref(), |value| format!("{value:.1}")),
            if mode.identical { "runs identical".to_owned() } else { String::new() },
        ]);
    }
    trimmed(&table)
}

/// Median and range, or `–` when there are no figures.
fn range_text(spread: Option<&Spread>, text: impl Fn(f64) -> String) -> String {
    let Some(Spread { median, min, max }) = spread.copied() else { return "–".to_owned() };
    if text(min) == text(max) { text(median) } else { format!("{} ({} to {})", text(median), text(min), text(max)) }
}

/// Tokens read on each turn, one line a mode, of its first run.
fn turns_text(runs: &[&RunRecord], names: Names) -> String {
    let mut text = "tokens read on each turn, first run of each mode\n".to_owned();
    let width = runs.iter().map(|run| names.of_run(run).chars().count()).max().unwrap_or_default();
    let mut shown: Vec<String> = Vec::new();
    for run in runs {
        let name = names.of_run(run);
        if shown.contains(&name) {
            continue;
        }
        let turns: Vec<String> = run.per_turn.iter().map(|turn| short_number(turn.tokens_read)).collect();
        let _ = writeln!(text, "  {name:<width$}  {}", abridged(&turns));
        shown.push(name);
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
