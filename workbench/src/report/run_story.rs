//! One run, told turn by turn: what `show RUN` and `verify` print.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::printer::plain;
use crate::results::format::{CallRecord, Hosted, RuleStatus, RunRecord, Verdict};

use super::one_line;
use super::table::{counted, dollars, got_text, grouped, mark, priced_by, run_line, table, trimmed};

/// Words of a list that are told.
const TOLD: usize = 20;

/// The run's settings, its turns, its calls by tool, its last words and its verdict.
pub fn story(run: &RunRecord, ledger: &[CallRecord]) -> String {
    let run = &one_line::of_run(run);
    let mut text = format!("{}\n{}\n\n", run.run, run_line(run));
    let sandbox = run.sandbox_label().map(|name| format!(", sandbox {name}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "model {}{sandbox}, data from {}, {} build, started {}, stop {}{}",
        run.model,
        run.source,
        run.profile,
        run.started,
        stop_word(run),
        run.stop_detail.as_deref().map(|detail| format!(" ({})", continued(detail))).unwrap_or_default()
    );
    let (requests, hits) = (counted(run.network_calls, "network request"), counted(run.cache_hits, "cache hit"));
    let _ = writeln!(text, "{requests}, {hits}");
    text.push_str(&asked(run));
    text.push('\n');
    text.push_str(&turns(run));
    text.push_str(&calls(ledger));
    text.push_str(&faults(run));
    if !run.final_text.is_empty() {
        let _ = writeln!(text, "\nlast words (never judged)\n{}", indented(run.final_text.trim_end()));
    }
    if let Some(verdict) = &run.verify {
        let _ = write!(text, "\n{}", verdict_table(verdict));
    }
    plain(&text)
}

/// One line a rule, with what was found.
pub fn verdict_table(verdict: &Verdict) -> String {
    if verdict.rules.is_empty() {
        return "not verified: there are no rules\n".to_owned();
    }
    let mut rows = table(&["rule", "status", "got", "points"], &[0, 1, 2]);
    for rule in &one_line::of_verdict(verdict).rules {
        let status = match rule.status {
            RuleStatus::Pass => "pass",
            RuleStatus::Fail => "fail",
            RuleStatus::Error => "error",
        };
        rows.add_row([
            rule.name.clone(),
            status.to_owned(),
            got_text(&rule.got),
            format!("{} of {}", rule.points, rule.max_points),
        ]);
    }
    let word = if verdict.ok { "verified" } else { "not verified" };
    let points = match verdict.rules.iter().all(|rule| rule.status == RuleStatus::Error) {
        // Rules that ended in an error count neither way.
        true => "no rule could be decided".to_owned(),
        false => format!("{} of {} points", verdict.points, verdict.max_points),
    };
    plain(&format!("{}\n{word}: {points}\n", trimmed(&rows)))
}

/// What was used of the provider's sandbox, in a line.
fn sandbox_of_the_provider(hosted: &Hosted) -> String {
    let (containers, resumes) = (hosted.containers.into(), hosted.resumes.into());
    let mut text = format!(
        "provider's sandbox: {}, {:.0} s of it with the five minutes that are the least",
        counted(containers, "container"),
        hosted.container_seconds
    );
    if let Some(cost) = hosted.container_cost_usd {
        let _ = write!(text, " ({} beyond an account's free hours)", dollars(cost));
    }
    let _ = write!(text, "; {} that only brought results", counted(resumes, "request"));
    if hosted.direct_calls > 0 {
        let calls = counted(hosted.direct_calls.into(), "call");
        let _ = write!(text, "; {calls} by the model itself of tools that are for scripts");
    }
    if !hosted.files.is_empty() {
        let more = usize::try_from(hosted.more_files).unwrap_or(usize::MAX);
        let _ = write!(text, "; files left there: {}", shortened(hosted.files.iter().map(String::as_str), more));
    }
    if !hosted.errors.is_empty() {
        let words: Vec<String> = hosted.errors.iter().map(|(code, count)| format!("{code} ×{count}")).collect();
        let _ = write!(text, "; errors of its tool: {}", shortened(words.into_iter(), 0));
    }
    text
}

/// How the model was asked, what that cost, and what went otherwise: lines only where there is something to say.
fn asked(run: &RunRecord) -> String {
    let mut text = String::new();
    let settings = run.settings.iter().map(|(name, value)| format!("{name} {value}"));
    let budgets = run.budgets.entries().into_iter().map(|(name, value)| format!("{name} {value}"));
    let words: Vec<String> = settings.chain(budgets).collect();
    if !words.is_empty() {
        let _ = writeln!(text, "asked with {}", words.join(", "));
    }
    match (run.cost_usd, &run.prices) {
        (Some(cost), Some(prices)) => {
            let _ = writeln!(text, "cost {} {}", dollars(cost), priced_by(prices));
        }
        (Some(cost), None) => {
            let _ = writeln!(text, "cost {}", dollars(cost));
        }
        _ => {}
    }
    if let Some(hosted) = &run.hosted {
        let _ = writeln!(text, "{}", sandbox_of_the_provider(hosted));
    }
    if !run.retried.is_empty() {
        let causes = tally(run.retried.iter().map(|retry| retry.cause.as_str()));
        let waited: f64 = run.retried.iter().map(|retry| retry.wait_seconds).sum();
        let _ = writeln!(text, "requests made again: {causes}; {waited:.1} s of waiting");
    }
    for deviation in &run.deviations {
        let _ = writeln!(text, "deviated: {deviation}");
    }
    text
}

fn turns(run: &RunRecord) -> String {
    let mut rows = table(&["turn", "tokens read", "written", "calls"], &[3]);
    for turn in &run.per_turn {
        rows.add_row([
            turn.turn.to_string(),
            format!("{}{}", mark(run.estimated), grouped(turn.tokens_read)),
            grouped(turn.output_tokens),
            tally(turn.tools.iter().map(String::as_str)),
        ]);
    }
    format!("{}\n", trimmed(&rows))
}

fn calls(ledger: &[CallRecord]) -> String {
    let nested: Vec<&CallRecord> = ledger.iter().filter(|call| call.script.is_some()).collect();
    if nested.is_empty() {
        return String::new();
    }
    let bytes = nested.iter().fold(0, |sum: u64, call| sum.saturating_add(call.bytes));
    format!(
        "\nscripts called {} ({} bytes of answers that the model did not read)\n",
        tally(one_line::of_tools(&nested).iter().map(String::as_str)),
        grouped(bytes)
    )
}

fn faults(run: &RunRecord) -> String {
    let lines = run.faults.iter().map(|fault| {
        let times = if fault.count > 1 { format!(" ×{}", fault.count) } else { String::new() };
        format!("  {}{times}\n", continued(&fault.text))
    });
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\nfaults that are not the model's\n{lines}") }
}

/// `get_object ×12, download_image`, in order of first use.
fn tally<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        let place = *places.entry(name).or_insert(counts.len());
        match counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words =
        counts.iter().map(|(name, count)| if *count == 1 { (*name).to_owned() } else { format!("{name} ×{count}") });
    shortened(words, 0)
}

/// The first words of a list, and how many more there are beside those that are `more` already.
fn shortened(words: impl ExactSizeIterator<Item = impl Into<String>>, more: usize) -> String {
    let more = more + words.len().saturating_sub(TOLD);
    let mut told: Vec<String> = words.take(TOLD).map(Into::into).collect();
    if more > 0 {
        told.push(format!("{more} more"));
    }
    told.join(", ")
}

fn stop_word(run: &RunRecord) -> String {
    serde_json::to_value(run.stop).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Text that begins within a line: its further lines stand apart from ours.
fn continued(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
