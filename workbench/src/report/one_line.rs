//! Records as text shows them. They may be handed in, and a line feed in a name would begin a line that looks like
//! ours.

use crate::printer::line;
use crate::results::format::{CallRecord, RunRecord, Verdict};

/// The run with each of its names on one line. Its words, of which there may be many lines, are as they were.
pub(super) fn of_run(run: &RunRecord) -> RunRecord {
    let mut run = run.clone();
    let names = [&mut run.run, &mut run.domain, &mut run.mode, &mut run.model, &mut run.source, &mut run.profile];
    let optional = [&mut run.sandbox, &mut run.rehearsal_of, &mut run.prices].into_iter().flatten();
    let causes = run.retried.iter_mut().map(|retry| &mut retry.cause);
    let tools = run.per_turn.iter_mut().flat_map(|turn| &mut turn.tools);
    for name in names.into_iter().chain([&mut run.started]).chain(optional).chain(tools).chain(causes) {
        *name = line(name);
    }
    run.settings = run.settings.iter().map(|(name, value)| (line(name), line(value))).collect();
    run.fingerprint = run.fingerprint.iter().map(|(part, digest)| (line(part), line(digest))).collect();
    run.deviations = run.deviations.iter().map(|text| line(text)).collect();
    if let Some(hosted) = &mut run.hosted {
        hosted.files.iter_mut().for_each(|id| *id = line(id));
        hosted.errors = hosted.errors.iter().map(|(code, count)| (line(code), *count)).collect();
    }
    run.limits = run.limits.iter().map(|(key, value)| (line(key), *value)).collect();
    run.verify = run.verify.as_ref().map(of_verdict);
    run
}

/// The verdict with each name of a rule on one line.
pub(super) fn of_verdict(verdict: &Verdict) -> Verdict {
    let mut verdict = verdict.clone();
    for rule in &mut verdict.rules {
        rule.name = line(&rule.name);
    }
    verdict
}

/// The tools of these calls, on one line each.
pub(super) fn of_tools(calls: &[&CallRecord]) -> Vec<String> {
    calls.iter().map(|call| line(&call.tool)).collect()
}
