//! The section `rehearsal`: what becomes of the task in each mode.

use std::path::Path;

use plugin_api::wire::ToolSpec;
use serde::Serialize;

use super::Section;
use super::manifest::is_sample;
use crate::domain::Domain;
use crate::files::{LONGEST_TEXT, read_text};
use crate::printer::line;
use crate::report::table::got_text;
use crate::results::faults::OTHERS;
use crate::results::format::{RuleOutcome, RuleStatus, RunRecord};
use crate::runner::Mode;
use crate::sandbox::SCRIPT_FILE;
use crate::sandbox::fault::ScriptFault;

/// Rules that are named one by one.
const NAMED: usize = 3;
/// Characters of what a rule got.
const LONGEST_GOT: usize = 60;
/// Characters of an outcome that stand in a row.
const LONGEST_ROW: usize = 140;

/// What became of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeOutcome {
    /// `serial`, `loop`, `code` or `hosted`.
    pub mode: String,
    /// Whether every rule passed; null when there are no rules.
    pub passed: Option<bool>,
    /// The same in words, with the rules that did not pass.
    pub outcome: String,
    /// What kept it from doing the task, where that is not the rules' to judge: the end of its script, or an answer that was not
    /// there.
    pub fault: Option<String>,
    #[serde(skip)]
    told: Option<Fault>,
    /// Tool calls, those of scripts included.
    pub calls: u32,
    /// Tokens read, counted locally.
    pub tokens_read: u64,
}

impl ModeOutcome {
    /// That of a run of `domain`, which lies in `folder`; its scripts were offered `tools`, and `probes` is what was found before.
    pub fn of(domain: &Domain, tools: &[ToolSpec], probes: &Section, record: &RunRecord, folder: &Path) -> Self {
        let judged = record.verify.as_ref();
        let has_passed = judged.is_some_and(|verdict| verdict.ok);
        let fault = (!has_passed).then(|| Fault::of(domain, tools, probes, record, folder)).flatten();
        let calls = if record.scripts_run > 0 { record.nested_calls } else { record.tool_calls };
        Self {
            mode: record.mode.clone(),
            passed: judged.is_none_or(|verdict| !verdict.rules.is_empty()).then_some(has_passed),
            outcome: fault.as_ref().map_or_else(|| in_words(record), |fault| fault.outcome.to_owned()),
            fault: fault.as_ref().map(Fault::in_words),
            told: fault,
            calls,
            tokens_read: record.tokens_read,
        }
    }
}

impl ModeOutcome {
    /// Whether a finding tells what its rules did.
    fn is_short(&self) -> bool {
        matches!(self.mode.parse(), Ok(Mode::Code | Mode::Hosted)) && self.passed == Some(false) && self.fault.is_none()
    }

    /// Its outcome for a row of a table: a few words where a finding says the rest.
    pub(super) fn in_row(&self) -> String {
        let words = match self.outcome.split_once(": ") {
            Some((words, _)) if self.is_short() => words,
            _ => &self.outcome,
        };
        match words.char_indices().nth(LONGEST_ROW) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words.to_owned(),
        }
    }
}

/// What kept a rehearsal from doing the task.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    /// Of the run, in a few words.
    outcome: &'static str,
    text: String,
    /// File and line of a script.
    place: Option<String>,
    /// What to do about it, where that is not to mend the script.
    hint: Option<String>,
}

impl Fault {
    fn of(domain: &Domain, tools: &[ToolSpec], probes: &Section, record: &RunRecord, folder: &Path) -> Option<Self> {
        let met = record.faults.iter().map(|fault| fault.text.as_str()).filter(|text| *text != OTHERS);
        // Calls that were made together end in any order, so which fault was first says nothing.
        let met = met.min_by_key(|text| (!is_told(probes, text), text.len(), *text));
        if let Some(met) = met {
            let hint = Some(format!("{MEND}; nothing is known of the task before"));
            let (text, place) = (met.to_owned(), None);
            return Some(Self { outcome: "met a fault that is not the model's", text, place, hint });
        }
        let (fault, file) = script_fault(domain, record, folder)?;
        let place = fault.line.map_or_else(|| file.clone(), |line| format!("{file}, line {line}"));
        let (text, hint) = (format!("its script {}", fault.words), fault.hint(&domain.reference, tools));
        Some(Self { outcome: "its script failed", text, place: Some(place), hint })
    }

    fn in_words(&self) -> String {
        told(&self.text, self.place.iter().map(String::as_str).collect())
    }
}

/// A cause, and where it was met.
fn told(text: &str, mut places: Vec<&str>) -> String {
    places.dedup();
    if places.is_empty() { text.to_owned() } else { format!("{text} ({})", places.join("; ")) }
}

/// How the last script of a run of the rehearsal ended that did not end well, and the file of the domain that it is.
pub fn script_fault(domain: &Domain, record: &RunRecord, folder: &Path) -> Option<(ScriptFault, String)> {
    let rehearsal = domain.rehearsal.as_ref()?;
    let scripts = match record.mode.parse() {
        Ok(Mode::Code) => Some(&rehearsal.code_scripts),
        Ok(Mode::Hosted) => Some(&rehearsal.hosted_scripts),
        _ => None,
    };
    if let Some(scripts) = scripts {
        let number = record.scripts_run;
        let file = domain.own(scripts.get(usize::try_from(number).ok()?.checked_sub(1)?)?);
        let reply = read_text(&folder.join("scripts").join(format!("{number:02}.out")), LONGEST_TEXT).ok()?;
        return Some((ScriptFault::of(&reply, SCRIPT_FILE)?, file));
    }
    let file = domain.own(rehearsal.loop_script.as_ref()?);
    let (_, reply) = record.stop_detail.as_ref()?.split_once(": ")?;
    Some((ScriptFault::of(reply, &file)?, file))
}

/// Tells the rehearsals that were made, and why others were not. `probes` has told what it is about.
pub fn section(domain: &Domain, probes: &Section, made: &[ModeOutcome], not_made: &[(Mode, String)]) -> Section {
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
    tell_faults(&mut section, name, probes, made);
    for outcome in made.iter().filter(|outcome| outcome.is_short()) {
        let mode = &outcome.mode;
        section.short(
            format!("the rehearsal in {mode} mode is not verified: it {}", outcome.outcome),
            format!(
                "`workbench run {name} --mode {mode}` shows it turn by turn; mend the script, the tools or the rules"
            ),
        );
    }
    let is_stepwise = |outcome: &ModeOutcome| [Mode::Serial.name(), Mode::Loop.name()].contains(&outcome.mode.as_str());
    // Of the sample nobody has asked for more.
    if made.iter().any(is_stepwise) && made.iter().all(|outcome| outcome.passed == Some(true)) && !is_sample(domain) {
        section.note(
            "no mode falls short, so a comparison shows costs and no difference in what is made",
            "have at least one requirement that a loop is likely to miss slightly, such as keeping many kinds apart",
        );
    }
    section
}

/// What is said of a fault that a probe has met as well.
const TOLD: &str = "the task could not be done, for the reason that `probes` tells";

fn is_told(probes: &Section, fault: &str) -> bool {
    probes.findings.iter().any(|finding| finding.text.contains(fault))
}

/// What kept rehearsals from doing the task, each once, whatever the modes it kept.
fn tell_faults(section: &mut Section, name: &str, probes: &Section, made: &[ModeOutcome]) {
    let failed: Vec<(&ModeOutcome, &Fault)> =
        made.iter().filter_map(|outcome| Some((outcome, outcome.told.as_ref()?))).collect();
    for same in failed.chunk_by(|(_, one), (_, other)| one.text == other.text) {
        let modes: Vec<&str> = same.iter().map(|(outcome, _)| outcome.mode.as_str()).collect();
        let (first, fault) = same[0];
        let places = same.iter().filter_map(|(_, fault)| fault.place.as_deref()).collect();
        let cause = if is_told(probes, &fault.text) { TOLD.to_owned() } else { told(&fault.text, places) };
        let hint = fault.hint.clone().unwrap_or_else(|| {
            format!("mend that; `workbench run {name} --mode {}` shows it turn by turn", first.mode)
        });
        section.short(format!("{}: {cause}", modes.join(", ")), hint);
    }
}

/// Why a mode without scripts was not rehearsed.
pub const NO_SCRIPT: &str = "there is no script for it";

/// What is said in the place of what a rehearsal did that could not do the task.
pub const FAILED: &str = "it could not do the task";

/// What to do about any other reason.
pub(super) const MEND: &str = "mend that, and check again";

fn hint(mode: Mode, reason: &str) -> String {
    if reason != NO_SCRIPT {
        return MEND.to_owned();
    }
    match mode {
        Mode::Code => "write `rehearsal/code/1.py`".to_owned(),
        Mode::Hosted => "write `rehearsal/hosted/1.py`".to_owned(),
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
    let of = |status: RuleStatus| -> Vec<&RuleOutcome> {
        verdict.rules.iter().filter(|rule| rule.status == status).collect()
    };
    let (failed, undecided) = (of(RuleStatus::Fail), of(RuleStatus::Error));
    match (failed.is_empty(), undecided.is_empty()) {
        (true, true) => "was made; there are no rules to judge it".to_owned(),
        (true, false) => format!("is undecided: {}", shortened(&undecided)),
        (false, _) => format!("fell short: {}", shortened(&failed)),
    }
}

/// What a rule got, as far as it fits into a line.
fn shown(got: &str) -> String {
    match got.char_indices().nth(LONGEST_GOT) {
        Some((end, _)) => format!("{}…", &got[..end]),
        None if got.is_empty() => "nothing".to_owned(),
        None => got.to_owned(),
    }
}

/// The first rules, and what they got: once where that is the same, since one missing page fails many.
fn shortened(rules: &[&RuleOutcome]) -> String {
    let named = &rules[..rules.len().min(NAMED)];
    let groups: Vec<String> = named
        .chunk_by(|one, other| one.got == other.got)
        .map(|same| {
            let names: Vec<&str> = same.iter().map(|rule| rule.name.as_str()).collect();
            let got = shown(&got_text(&same[0].got));
            format!("{} (got {got})", names.join("; "))
        })
        .collect();
    let more = rules.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    groups.join("; ") + &more
}
