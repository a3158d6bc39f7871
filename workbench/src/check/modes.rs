//! The section `rehearsal`: what becomes of the task in each mode.

use serde::Serialize;

use super::Section;
use crate::domain::Domain;
use crate::printer::line;
use crate::results::format::{RuleStatus, RunRecord};
use crate::runner::Mode;

/// Rules that are named one by one.
const NAMED: usize = 3;

/// What became of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeOutcome {
    /// `serial`, `loop` or `code`.
    pub mode: String,
    /// Whether every rule passed; null when there are no rules.
    pub passed: Option<bool>,
    /// The same in words, with the rules that did not pass.
    pub outcome: String,
    /// Tool calls, those of scripts included.
    pub calls: u32,
    /// Tokens read, counted locally.
    pub tokens_read: u64,
}

impl ModeOutcome {
    /// That of a run.
    pub fn of(record: &RunRecord) -> Self {
        let judged = record.verify.as_ref();
        let calls = if record.scripts_run > 0 { record.nested_calls } else { record.tool_calls };
        Self {
            mode: record.mode.clone(),
            passed: judged
                .is_none_or(|verdict| !verdict.rules.is_empty())
                .then(|| judged.is_some_and(|verdict| verdict.ok)),
            outcome: in_words(record),
            calls,
            tokens_read: record.tokens_read,
        }
    }
}

/// Tells the rehearsals that were made, and why others were not.
pub fn section(domain: &Domain, made: &[ModeOutcome], not_made: &[(Mode, String)]) -> Section {
    let mut section = Section::new("rehearsal");
    let name = &domain.reference;
    if made.is_empty() && domain.prompt.is_none() {
        section.note("without a task there is nothing to rehearse", "write a `[task]` in domain.toml");
        return section;
    }
    if made.is_empty() && not_made.iter().all(|(_, reason)| reason == NO_SCRIPT) {
        section.note(
            "there is no rehearsal, so whether the task can be done is not known",
            "write `rehearsal/loop.py` and `rehearsal/code/1.py`, as the domains in `domains/` have them",
        );
        return section;
    }
    for reasons in not_made.chunk_by(|(_, one), (_, other)| one == other) {
        let names: Vec<&str> = reasons.iter().map(|(mode, _)| mode.name()).collect();
        let (mode, reason) = &reasons[0];
        section.note(format!("{}: not rehearsed, {reason}", names.join(", ")), hint(*mode, reason));
    }
    for outcome in made.iter().filter(|outcome| outcome.mode == Mode::Code.name() && outcome.passed == Some(false)) {
        section.short(
            format!("the rehearsal in code mode is not verified: it {}", outcome.outcome),
            format!(
                "`workbench run {name} --mode code` shows it turn by turn; mend the script, the tools or the rules"
            ),
        );
    }
    let stepwise: Vec<&ModeOutcome> = made.iter().filter(|outcome| outcome.mode != Mode::Code.name()).collect();
    if !stepwise.is_empty() && made.iter().all(|outcome| outcome.passed == Some(true)) {
        section.note(
            "no mode falls short, so a comparison shows costs and no difference in what is made",
            "have at least one requirement that a loop is likely to miss slightly, such as keeping many kinds apart",
        );
    }
    section
}

/// Why a mode without scripts was not rehearsed.
pub const NO_SCRIPT: &str = "there is no script for it";

/// What to do about any other reason.
pub(super) const MEND: &str = "mend that, and check again";

fn hint(mode: Mode, reason: &str) -> String {
    if reason != NO_SCRIPT {
        return MEND.to_owned();
    }
    match mode {
        Mode::Code => "write `rehearsal/code/1.py`".to_owned(),
        Mode::Serial | Mode::Loop => "write `rehearsal/loop.py`".to_owned(),
    }
}

fn in_words(record: &RunRecord) -> String {
    let Some(verdict) = &record.verify else {
        let detail = record.stop_detail.as_deref().unwrap_or("it was interrupted");
        let last = detail.lines().map(str::trim).rfind(|text| !text.is_empty()).unwrap_or_default();
        return format!("was not judged: {}", line(last));
    };
    if verdict.ok {
        return "passed".to_owned();
    }
    let of = |status: RuleStatus| -> Vec<String> {
        let rules = verdict.rules.iter().filter(|rule| rule.status == status);
        rules
            .map(|rule| format!("{} (got {})", rule.name, rule.got.as_str().map_or_else(|| rule.got.to_string(), line)))
            .collect()
    };
    let (failed, undecided) = (of(RuleStatus::Fail), of(RuleStatus::Error));
    match (failed.is_empty(), undecided.is_empty()) {
        (true, true) => "was made; there are no rules to judge it".to_owned(),
        (true, false) => format!("is undecided: {}", shortened(&undecided)),
        (false, _) => format!("fell short: {}", shortened(&failed)),
    }
}

fn shortened(rules: &[String]) -> String {
    let more = rules.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    rules[..rules.len().min(NAMED)].join("; ") + &more
}
