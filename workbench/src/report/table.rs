//! The report on a terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use crate::model::prices::REPORTED;
use crate::model::{rehearsal, replay};
use crate::printer::{line, plain};
use crate::results::format::RunRecord;

use super::apart::Settings;
use super::statistics::Spread;
use super::summary::{MODES, ModeSummary, Ratio, Report, Setting, calls_of, mode_rank, summarise, undecided};
use super::{findings, matrix, one_line, shortfall};

/// The mode whose requests do not all ask a model.
const HOSTED: &str = "hosted";

/// The whole report as text: one row a run, one row a mode, tokens by turn, ratios, what fell short.
pub fn report(report: &Report) -> String {
    if report.runs.is_empty() {
        return "no runs yet\n".to_owned();
    }
    let report = &summarise(report.runs.iter().map(one_line::of_run).collect());
    let settings = Settings::of(report);
    let mut parts: Vec<String> = settings.all.iter().map(|setting| part(report, setting, &settings)).collect();
    parts.extend([settings.changes(), matrix::text(report, &settings)].into_iter().filter(|text| !text.is_empty()));
    plain(&format!("{}\n", parts.join("\n").trim_end()))
}

/// What is said of the runs of one setting.
fn part(report: &Report, setting: &Setting, settings: &Settings) -> String {
    let mut runs: Vec<&RunRecord> = report.runs.iter().filter(|run| Setting::of(run) == *setting).collect();
    runs.sort_by_key(|run| mode_rank(&run.mode));
    let modes: Vec<&ModeSummary> = report.modes.iter().filter(|mode| mode.setting == *setting).collect();
    let names = Names::of(&runs);
    let Setting { domain, model, source, profile, .. } = setting;
    let mut text = format!("{domain} · {model} · {source} · {profile} build{}\n\n", settings.apart(setting));
    let columns = Columns::of(&runs);
    let _ = writeln!(text, "{}\n", runs_table(&runs, names, columns));
    let _ = writeln!(text, "{}\n", modes_table(&modes, names, columns));
    text.push_str(&modes_notes(&modes, names));
    text.push_str(&turns_text(&runs, names));
    let ratios = report.ratios.iter().filter(|ratio| ratio.setting == *setting);
    for (number, ratio) in ratios.enumerate() {
        text.push_str(if number == 0 { "\n" } else { "" });
        text.push_str(&findings::text(ratio, &modes, names));
    }
    text.push_str(&shortfall::text(&runs, names));
    text.push_str(&prices_text(&runs));
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

/// What modes are called: with their sandbox, where one of them has several.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// By the places of modes.
    with_sandbox: [bool; MODES],
}

impl Names {
    pub(super) fn of(runs: &[&RunRecord]) -> Self {
        let mut sandboxes: [BTreeSet<String>; MODES] = Default::default();
        for run in runs {
            sandboxes[mode_rank(&run.mode)].extend(run.sandbox_label());
        }
        Self { with_sandbox: sandboxes.map(|labels| labels.len() > 1) }
    }

    pub(super) fn name(self, mode: &str, sandbox: Option<&str>) -> String {
        match sandbox {
            Some(sandbox) if self.with_sandbox[mode_rank(mode)] => format!("{mode} ({sandbox})"),
            _ => mode.to_owned(),
        }
    }

    /// The modes above and below the line.
    pub(super) fn of_ratio(self, ratio: &Ratio) -> [String; 2] {
        [self.name(&ratio.of, ratio.of_sandbox.as_deref()), self.name(&ratio.to, ratio.sandbox.as_deref())]
    }

    pub(super) fn of_run(self, run: &RunRecord) -> String {
        self.name(&run.mode, run.sandbox_label().as_deref())
    }
}

/// Which columns are shown beside those that always are.
#[derive(Clone, Copy)]
struct Columns {
    /// Where a model was asked.
    cost: bool,
    /// Where a request was made again.
    retries: bool,
}

impl Columns {
    fn of(runs: &[&RunRecord]) -> Self {
        Self {
            cost: runs.iter().any(|run| run.model != rehearsal::NAME),
            retries: runs.iter().any(|run| run.retries > 0),
        }
    }

    /// The row with these columns before its last.
    fn with(self, mut row: Vec<String>, cost: String, retries: String) -> Vec<String> {
        let last = row.pop();
        row.extend([(self.cost, cost), (self.retries, retries)].into_iter().filter(|it| it.0).map(|it| it.1));
        row.extend(last);
        row
    }

    /// A table with these names of columns; the last column and those of `left` are of words.
    fn table(self, head: &[&str], left: &[usize]) -> Table {
        let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
        let head = self.with(head, "cost".to_owned(), "retries".to_owned());
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        table(&head, &[left, &[head.len() - 1]].concat())
    }
}

/// One line about a run, for progress and `run`.
pub fn run_line(run: &RunRecord) -> String {
    format!(
        "{} {}: {}, {}, {}{} tokens read, {:.1} s, {}{}",
        run.domain,
        run.mode,
        counted(run.model_turns.into(), "turn"),
        calls_text(run),
        mark(run.estimated),
        grouped(run.tokens_read),
        run.seconds,
        run.cost_usd.map(|cost| format!("{}, ", dollars(cost))).unwrap_or_default(),
        verdict_text(run)
    )
}

/// An amount of US dollars as people read it: `$0.0123`.
pub fn dollars(amount: f64) -> String {
    if amount == 0.0 {
        "$0".to_owned()
    } else if amount < 0.000_05 {
        "<$0.0001".to_owned()
    } else if amount < 1.0 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
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

/// `1 turn`, `2 turns`, `3 entries`.
pub fn counted(count: u64, word: &str) -> String {
    match word.strip_suffix("ry") {
        _ if count == 1 => format!("{count} {word}"),
        Some(beginning) => format!("{count} {beginning}ries"),
        None => format!("{count} {word}s"),
    }
}

/// `2 of 3, 1 undecided`: runs that passed among the decided ones, which may be none.
pub(super) fn passed_text(mode: &ModeSummary) -> String {
    let (passed, undecided) = (format!("{} of {}", mode.passed, mode.n), format!("{} undecided", mode.errors));
    match (mode.n, mode.errors) {
        (0, _) => undecided,
        (_, 0) => passed,
        _ => format!("{passed}, {undecided}"),
    }
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

fn runs_table(runs: &[&RunRecord], names: Names, columns: Columns) -> String {
    let head = ["run", "mode", "turns", "calls or scripts", "tokens read", "seconds", "verdict"];
    let mut table = columns.table(&head, &[0, 1]);
    for run in runs {
        let row = vec![
            run.run.clone(),
            names.of_run(run),
            run.model_turns.to_string(),
            calls_text(run),
            format!("{}{}", mark(run.estimated), grouped(run.tokens_read)),
            format!("{:.1}", run.seconds),
            verdict_text(run).to_owned(),
        ];
        let cost = run.cost_usd.map_or_else(|| "–".to_owned(), dollars);
        table.add_row(columns.with(row, cost, run.retries.to_string()));
    }
    trimmed(&table)
}

fn modes_table(modes: &[&ModeSummary], names: Names, columns: Columns) -> String {
    let mut table =
        columns.table(&["mode", "passed", "turns", "calls", "scripts", "tokens read", "seconds", ""], &[0, 1]);
    for mode in modes {
        let spread = |spread: &Option<Spread>| range_text(spread.as_ref(), |value| grouped(value.round() as u64));
        let row = vec![
            names.name(&mode.mode, mode.sandbox.as_deref()),
            passed_text(mode),
            spread(&mode.model_turns),
            spread(&mode.calls),
            spread(&mode.scripts),
            format!("{}{}", mark(mode.estimated && mode.n > 0), spread(&mode.tokens_read)),
            range_text(mode.seconds.as_ref(), |value| format!("{value:.1}")),
            if mode.identical { "runs identical".to_owned() } else { String::new() },
        ];
        table.add_row(columns.with(row, range_text(mode.cost_usd.as_ref(), dollars), mode.retries.to_string()));
    }
    trimmed(&table)
}

/// How likely several runs in a row pass, where that is not plain, and what models did otherwise than asked.
fn modes_notes(modes: &[&ModeSummary], names: Names) -> String {
    let mut text = String::new();
    for mode in modes {
        let name = names.name(&mode.mode, mode.sandbox.as_deref());
        if 0 < mode.passed && mode.passed < mode.n {
            let shown = mode.pass_hat_k.iter().enumerate().map(|(index, chance)| (index + 1, chance));
            let shown = shown.filter(|(k, _)| *k <= 5 || k.is_multiple_of(5));
            let chances: Vec<String> = shown.map(|(k, chance)| format!("{chance:.2} of {k}")).collect();
            let _ = writeln!(text, "{name}, chance that all pass (pass^k): {}", chances.join(", "));
        }
        for (deviation, runs) in &mode.deviations {
            let _ = writeln!(text, "{name} deviated: {deviation}, in {runs} of {}", counted(mode.n as u64, "run"));
        }
        if mode.mode == HOSTED && mode.model_turns.as_ref().is_some_and(|turns| turns.max > 1.0) {
            let _ =
                writeln!(text, "{name} has turns that only bring results to code that waits for them (docs/hosted.md)");
        }
        if let (Some(seconds), Some(cost)) = (&mode.container_seconds, &mode.container_cost_usd) {
            let _ = writeln!(
                text,
                "{name} also used the provider's containers for {:.0} s a run, {} beyond an account's free hours (docs/hosted.md)",
                seconds.median,
                dollars(cost.median)
            );
        }
        if mode.prices.len() > 1 {
            let prices: Vec<&str> = mode.prices.iter().map(String::as_str).collect();
            let _ = writeln!(
                text,
                "{name} has no cost in common, since its runs go by other prices: {}",
                prices.join("; ")
            );
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// By which prices the costs were reckoned.
fn prices_text(runs: &[&RunRecord]) -> String {
    let mut origins: Vec<&str> = runs.iter().filter_map(|run| run.prices.as_deref()).collect();
    origins.sort_unstable();
    origins.dedup();
    origins.iter().map(|origin| format!("\ncost {}\n", priced_by(origin))).collect()
}

/// How a cost is known that a record says to be by these prices.
pub(super) fn priced_by(prices: &str) -> String {
    if prices == REPORTED { format!("by {REPORTED}") } else { format!("by list prices as of {prices}") }
}

/// Median and range, or `–` when there are no figures.
pub(super) fn range_text(spread: Option<&Spread>, text: impl Fn(f64) -> String) -> String {
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

/// What a rule found, on one line, in at most 200 characters and their escapes.
pub fn got_text(got: &serde_json::Value) -> String {
    let text = match got {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(200) {
        Some((end, _)) => line(&format!("{}…", &text[..end])),
        None => line(&text),
    }
}

fn calls_text(run: &RunRecord) -> String {
    let (count, word) = if run.scripts_run > 0 { (run.scripts_run, "script") } else { (calls_of(run), "call") };
    counted(count.into(), word)
}

/// The table without the blanks that alignment leaves at the ends of lines.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
