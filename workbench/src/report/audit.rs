//! What a replay tells of a run: which results of tools, which rules and which files are not as they are recorded. The
//! content of `replay --format json`.

use serde::Serialize;

use super::audit_figures::{compare, unchecked};
use crate::artifacts::{Compared, FileDifference};
use crate::model::transcript::{ResultText, Transcript};
use crate::results::format::{Fault, RuleOutcome, RunRecord, Stop, Verdict};

pub use super::audit_figures::{FigureDifference, PricesOfRun};
pub use super::audit_text::text;

/// Value of `format` in `replay --format json`.
pub const REPLAY_FORMAT: &str = "workbench/replay/v1";

/// Stands in the place of a tool's name for a script that stood in the model's words.
const IN_WORDS: &str = "script in words";

/// Letters of arguments that are shown.
const ARGUMENTS: usize = 200;
/// Letters that are shown before the first that differs, and from there.
const BEFORE: usize = 30;
const AFTER: usize = 90;

/// A run compared with its replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// [`REPLAY_FORMAT`].
    pub format: String,
    /// The run.
    pub run: String,
    /// Its domain.
    pub domain: String,
    /// Its mode.
    pub mode: String,
    /// Who spoke in it.
    pub model: String,
    /// Where it got its data.
    pub recorded_source: String,
    /// Where the replay got its data.
    pub source: String,
    /// Whether nothing differs.
    pub same: bool,
    /// Turns of the run.
    pub turns: usize,
    /// Turns of the replay: fewer, when a limit ended it before the record ends.
    pub replayed_turns: usize,
    /// Results that are in both, and were compared.
    pub results: usize,
    /// Calls whose results are not in the record, since it ends before.
    pub unrecorded: usize,
    /// Results that are in the record only, since the replay ended before.
    pub unreached: usize,
    /// Results that are not as recorded, in order.
    pub differences: Vec<Difference>,
    /// The verdicts.
    pub verdict: Verdicts,
    /// Files of `out/` that are alike.
    pub files: usize,
    /// The others.
    pub file_differences: Vec<FileDifference>,
    /// Figures of the record that are not what they must be.
    pub figures: Vec<FigureDifference>,
    /// Figures that were not checked.
    pub unchecked: Vec<&'static str>,
    /// What the replay met that is not the run's fault, and that the run did not meet.
    pub faults: Vec<Fault>,
    /// Folder of the replay, where it was kept.
    pub kept: Option<String>,
}

/// A result that is not as recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The turn, from 1.
    pub turn: usize,
    /// The call among those of the turn, from 1.
    pub call: usize,
    /// Name of the tool.
    pub tool: String,
    /// The beginning of its arguments, as JSON.
    pub arguments: String,
    /// Letters before the first that differs.
    pub after: usize,
    /// What stands there in the record.
    pub recorded: String,
    /// What stands there in the replay.
    pub replayed: String,
}

/// The verdicts of run and replay, and where they differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdicts {
    /// As the record says; null when the run was not judged.
    pub recorded: Option<Verdict>,
    /// Of the replay; null when it was not judged.
    pub replayed: Option<Verdict>,
    /// Whether they can be compared: a run that was cut off before it was judged has none, and that is no difference.
    pub compared: bool,
    /// Names of the rules that ended otherwise, or found something else.
    pub rules: Vec<String>,
}

/// One of the two: what was said, what was recorded of it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Who spoke.
    pub said_by: &'a str,
    /// Its record.
    pub record: &'a RunRecord,
    /// Its conversation.
    pub transcript: &'a Transcript,
}

impl Audit {
    /// Compares a run with its replay; `files` is what came of their artifacts.
    pub fn of(run: &str, recorded: Side<'_>, replayed: Side<'_>, files: Compared, prices: PricesOfRun<'_>) -> Self {
        let whole = recorded.transcript.turns.len() == replayed.transcript.turns.len();
        let mut audit = Self {
            format: REPLAY_FORMAT.to_owned(),
            run: run.to_owned(),
            domain: replayed.record.domain.clone(),
            mode: replayed.record.mode.clone(),
            model: recorded.said_by.to_owned(),
            recorded_source: recorded.record.source.clone(),
            source: replayed.record.source.clone(),
            same: false,
            turns: recorded.transcript.turns.len(),
            replayed_turns: replayed.transcript.turns.len(),
            results: 0,
            unrecorded: 0,
            unreached: 0,
            differences: Vec::new(),
            verdict: Verdicts::of(recorded.record, replayed.record),
            files: files.alike,
            file_differences: files.differences,
            figures: compare(recorded.record, replayed.record, whole, prices),
            unchecked: unchecked(recorded.record, prices),
            faults: new_faults(&recorded.record.faults, &replayed.record.faults),
            kept: None,
        };
        audit.compare(recorded.transcript, replayed.transcript);
        audit.same = audit.differences.is_empty()
            && audit.unreached == 0
            && audit.turns == audit.replayed_turns
            && audit.verdict.is_same()
            && audit.file_differences.is_empty()
            && audit.figures.is_empty();
        audit
    }

    fn compare(&mut self, recorded: &Transcript, replayed: &Transcript) {
        for (index, turn) in recorded.turns.iter().enumerate() {
            let new = replayed.turns.get(index);
            let mut place = 0;
            for call in turn.calls() {
                place += 1;
                let arguments = call.arguments.to_string();
                let asked = Asked { turn: index + 1, call: place, tool: call.tool, arguments: &arguments };
                self.compare_one(asked, turn.results.get(place - 1), new.and_then(|new| new.results.get(place - 1)));
            }
            if let Some(old) = &turn.words_result {
                let asked = Asked { turn: index + 1, call: place + 1, tool: IN_WORDS, arguments: "" };
                self.compare_one(asked, Some(old), new.and_then(|new| new.words_result.as_ref()));
            }
        }
    }

    fn compare_one(&mut self, asked: Asked<'_>, recorded: Option<&ResultText>, replayed: Option<&ResultText>) {
        match (recorded, replayed) {
            (None, _) => self.unrecorded += 1,
            (Some(_), None) => self.unreached += 1,
            (Some(old), Some(new)) => {
                self.results += 1;
                self.differences.extend(difference(asked, old, new));
            }
        }
    }
}

impl Verdicts {
    fn of(recorded: &RunRecord, replayed: &RunRecord) -> Self {
        let was_cut_off = matches!(recorded.stop, Stop::Interrupted | Stop::ModelError);
        let (old, new) = (recorded.verify.as_ref(), replayed.verify.as_ref());
        let compared = old.is_some() || !was_cut_off;
        let rules = |verdict: Option<&Verdict>| verdict.map(|verdict| verdict.rules.clone()).unwrap_or_default();
        let (left, right): (Vec<RuleOutcome>, Vec<RuleOutcome>) = (rules(old), rules(new));
        let mut names: Vec<String> = Vec::new();
        let unlike =
            left.iter().filter(|rule| !right.contains(rule)).chain(right.iter().filter(|rule| !left.contains(rule)));
        for rule in unlike.filter(|_| compared) {
            if !names.contains(&rule.name) {
                names.push(rule.name.clone());
            }
        }
        Self { recorded: old.cloned(), replayed: new.cloned(), compared, rules: names }
    }

    /// Whether both say the same, as far as they can be compared.
    pub fn is_same(&self) -> bool {
        !self.compared || self.recorded == self.replayed
    }
}

/// What the replay met, without what the run had met as well.
fn new_faults(recorded: &[Fault], replayed: &[Fault]) -> Vec<Fault> {
    let is_new = |fault: &&Fault| !recorded.iter().any(|known| known.text == fault.text);
    replayed.iter().filter(is_new).cloned().collect()
}

/// What a result answers.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    turn: usize,
    call: usize,
    tool: &'a str,
    arguments: &'a str,
}

fn difference(
    Asked { turn, call, tool, arguments }: Asked<'_>,
    recorded: &ResultText,
    replayed: &ResultText,
) -> Option<Difference> {
    if recorded == replayed {
        return None;
    }
    let (old, new) = (&recorded.text, &replayed.text);
    let mut at = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    if old == new {
        at = 0;
    }
    // The letter that differs may begin with equal bytes. What is before it is the same in both.
    while !old.is_char_boundary(at) {
        at -= 1;
    }
    let excerpt = |result: &ResultText| {
        let kind = match (recorded.is_error == replayed.is_error, result.is_error) {
            (true, _) => "",
            (false, true) => "(an error) ",
            (false, false) => "(no error) ",
        };
        format!("{kind}{}", around(&result.text, at))
    };
    Some(Difference {
        turn,
        call,
        tool: tool.to_owned(),
        arguments: cut(arguments, ARGUMENTS),
        after: old[..at].chars().count(),
        recorded: excerpt(recorded),
        replayed: excerpt(replayed),
    })
}

/// What stands around a place of a text.
fn around(text: &str, at: usize) -> String {
    let before: Vec<char> = text[..at].chars().rev().take(BEFORE).collect();
    let dots = if text[..at].chars().nth(BEFORE).is_some() { "…" } else { "" };
    format!("{dots}{}{}", before.iter().rev().collect::<String>(), cut(&text[at..], AFTER))
}

pub(super) fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
