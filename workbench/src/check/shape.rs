//! The section `shape`: whether a task is one at which a script can save tokens, from a rehearsal of code mode.

use std::collections::BTreeMap;
use std::path::Path;

use super::Section;
use super::modes::{MEND, NO_SCRIPT};
use crate::domain::Domain;
use crate::model::transcript::Transcript;
use crate::report::table::{counted, grouped};
use crate::results::format::{CallEnd, CallRecord};
use crate::results::store::read_ledger;

/// Calls of the most called tool from which on a task fans out.
const FAN_OUT: u64 = 10;
/// Bytes of a record from which on reading it again and again costs: the lesson's 2 KB.
const RECORD: u64 = 2_000;
/// Percent of what was fetched that a script should print at most. The lesson names no number: its scripts printed
/// short summaries.
const PRINTED_PERCENT: f64 = 10.0;
/// Calls of a task at which a loop is simpler.
const FEW_CALLS: u64 = 2;

/// Tells the shape of a task from the folder of its run in code mode; where there is none, why, and how to get it.
pub fn section(domain: &Domain, run: Result<&Path, &str>) -> Section {
    let mut section = Section::new("shape");
    let run = match run {
        Ok(run) => run,
        Err(reason) => {
            let hint = match reason {
                NO_SCRIPT => format!(
                    "write `rehearsal/code/1.py`, or make one from a run: `workbench record {} --from RUN`",
                    domain.name()
                ),
                _ => MEND.to_owned(),
            };
            section.note(
                format!("how much a script would save is not known without a rehearsal in code mode: {reason}"),
                hint,
            );
            return section;
        }
    };
    match (read_ledger(run), Transcript::read(run)) {
        (Ok(calls), Ok(transcript)) => tell(&mut section, &calls, &transcript),
        (Err(error), _) => section.note(format!("the calls cannot be told: {error}"), "make the check again"),
        (_, Err(error)) => section.note(format!("what was printed cannot be told: {error}"), "make the check again"),
    }
    section
}

fn tell(section: &mut Section, calls: &[CallRecord], transcript: &Transcript) {
    let made: Vec<&CallRecord> =
        calls.iter().filter(|call| call.script.is_some() && call.outcome != CallEnd::Refused).collect();
    let is_answered = |call: &&&CallRecord| call.outcome == CallEnd::Answered;
    let mut by_tool: BTreeMap<&str, u64> = BTreeMap::new();
    for call in &made {
        *by_tool.entry(&call.tool).or_default() += 1;
    }
    // Of tools called as often, the one whose answers are longest is the one that counts.
    let sizes = |tool: &str| -> Vec<u64> {
        made.iter().filter(|call| call.tool == tool).filter(is_answered).map(|call| call.bytes).collect()
    };
    let most = by_tool.iter().max_by_key(|(tool, count)| (**count, median(sizes(tool))));
    let Some((tool, count)) = most.map(|(tool, count)| (*tool, *count)) else {
        section.warn("no script called a tool", "a rehearsal should do the task as a model would: with the tools");
        return;
    };
    let record = median(sizes(tool));
    let fetched: u64 = made.iter().filter(is_answered).map(|call| call.bytes).sum();
    let printed: u64 = transcript
        .turns
        .iter()
        .flat_map(|turn| turn.results.iter().chain(&turn.words_result))
        .map(|text| text.text.len() as u64)
        .sum();
    let percent = if fetched == 0 { 100.0 } else { printed as f64 / fetched as f64 * 100.0 };
    section.fact(format!("fan-out: {tool} was called {} (wanted: at least {FAN_OUT})", counted(count, "time")));
    section.fact(format!("its median answer has {} bytes (wanted: at least {})", grouped(record), grouped(RECORD)));
    section.fact(format!(
        "scripts printed {} of {} bytes they fetched, {percent:.1} % (wanted: at most {PRINTED_PERCENT} %)",
        grouped(printed),
        grouped(fetched)
    ));
    let total = made.len() as u64;
    if total <= FEW_CALLS {
        let calls = if total == 1 { "one call" } else { "two calls" };
        section.warn(
            format!("the task takes {calls}: a loop is simpler, and nothing is saved by a script"),
            "keep it as a control, or choose a task that reads many records (docs/lesson.md, `When not to`)",
        );
        return;
    }
    if count < FAN_OUT {
        section.warn(
            format!("no tool is called {FAN_OUT} times: there is little that a loop would read again and again"),
            "let the task look at more items",
        );
    }
    if record < RECORD {
        section.warn(
            format!("the answers of {tool} are short: a loop reads them again at little cost"),
            "choose an endpoint with detail records, most of which the task does not need",
        );
    }
    if percent > PRINTED_PERCENT {
        section.warn(
            "much of what scripts fetch is printed, and so read by the model after all",
            "print short summaries; if the task needs the whole answers, it is none for code mode",
        );
    }
}

fn median(mut sizes: Vec<u64>) -> u64 {
    sizes.sort_unstable();
    let middle = sizes.len() / 2;
    match sizes.len() {
        0 => 0,
        length if length % 2 == 1 => sizes[middle],
        _ => u64::midpoint(sizes[middle - 1], sizes[middle]),
    }
}
