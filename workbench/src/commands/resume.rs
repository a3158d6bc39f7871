//! `compare --resume`: which comparison goes on, and what is left of it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Failure;
use crate::printer::line;
use crate::results::attempts::{is_decided, without_repeated};
use crate::results::find::{StoredRun, list_runs};
use crate::results::format::{Budgets, Comparison, RunRecord};
use crate::results::order::is_name_of_command;
use crate::results::store::{StoreError, read_manifest};
use crate::runner::Mode;

use super::context::Context;
use super::report::tell_skipped;
use super::runs::{Job, Plan};

/// The runs of each comparison by its name; the newest is the last.
type Comparisons = BTreeMap<String, Vec<StoredRun>>;

/// The name of the comparison to go on with: the newest of the same settings that is not complete, or else the newest
/// that is. `wanted` names one that is to have these settings.
///
/// # Errors
/// When there is none. A setting that differs is named.
pub(super) fn find(
    context: &Context,
    wanted: Option<&str>,
    comparison: &Comparison,
    plans: &[Plan],
) -> Result<String, Failure> {
    let (known, skipped) = comparisons(context, comparison)?;
    tell_skipped(&skipped);
    let place = context.results.display();
    let domains = comparison.domains.join(", ");
    let nothing = || {
        Failure::usage(format!("there is no comparison of {domains} in {place} to resume"))
            .hint("without `--resume` a new one begins")
    };
    if known.is_empty() {
        return Err(nothing());
    }
    if let Some(wanted) = wanted.filter(|wanted| !known.contains_key(*wanted)) {
        let names: Vec<&str> = known.keys().rev().map(String::as_str).collect();
        return Err(Failure::usage(format!("there is no comparison `{wanted}` of {domains} in {place}"))
            .hint(format!("there are: {}", names.join(", "))));
    }
    let candidates = known.iter().rev().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name.as_str()));
    let (mut complete, mut unlike) = (None, None);
    for (name, runs) in candidates {
        let differences = differences(runs, comparison, plans);
        if !differences.is_empty() {
            unlike = unlike.or(Some((name, differences)));
        } else if left(&decided(runs), plans, &jobs_of(comparison)).is_empty() {
            complete = complete.or(Some(name));
        } else {
            return Ok(name.clone());
        }
    }
    match (complete, unlike) {
        (Some(name), _) => Ok(name.clone()),
        (None, Some((name, differences))) => {
            Err(Failure::usage(format!("the comparison {name} was made otherwise: {}", differences.join("; ")))
                .hint("give the command line it was made with, or begin a new comparison without `--resume`"))
        }
        (None, None) => Err(nothing()),
    }
}

/// The runs of a comparison, all that were begun.
pub(super) fn runs_of(context: &Context, command: &str, comparison: &Comparison) -> Result<Vec<StoredRun>, Failure> {
    let (mut known, _) = comparisons(context, comparison)?;
    Ok(known.remove(command).unwrap_or_default())
}

/// For each plan the jobs that have no decided run.
pub(super) fn left(decided: &[RunRecord], plans: &[Plan], jobs: &[Job]) -> Vec<(usize, Vec<Job>)> {
    let is_done = |domain: &str, job: &Job| {
        decided.iter().any(|run| run.domain == domain && run.mode == job.mode.name() && run.number == job.number)
    };
    let of_plan =
        |plan: &Plan| -> Vec<Job> { jobs.iter().filter(|job| !is_done(plan.domain.name(), job)).copied().collect() };
    let left = plans.iter().map(of_plan).enumerate();
    left.filter(|(_, jobs)| !jobs.is_empty()).collect()
}

/// The runs a comparison makes on each domain, in their order: one run of each mode before the second of any, so that
/// what drifts with time meets all modes alike, or else mode after mode.
pub(super) fn jobs_of(comparison: &Comparison) -> Vec<Job> {
    let modes = comparison.modes.iter().filter_map(|mode| mode.parse::<Mode>().ok());
    let mut jobs: Vec<Job> =
        modes.flat_map(|mode| (1..=comparison.runs).map(move |number| Job { mode, number })).collect();
    if !comparison.mode_after_mode {
        jobs.sort_by_key(|job| job.number);
    }
    jobs
}

/// Those of them that are decided.
pub(super) fn decided(runs: &[StoredRun]) -> Vec<RunRecord> {
    let runs = runs.iter().map(|run| run.record.clone()).collect();
    without_repeated(runs).into_iter().filter(is_decided).collect()
}

/// The comparisons of the same domains, and why runs were left out.
fn comparisons(context: &Context, comparison: &Comparison) -> Result<(Comparisons, Vec<StoreError>), Failure> {
    let (mut known, mut skipped) = (Comparisons::new(), Vec::new());
    for domain in &comparison.domains {
        let listing = list_runs(&context.results, Some(domain)).map_err(Failure::usage)?;
        skipped.extend(listing.skipped);
        for run in listing.runs {
            let of = run.record.comparison.as_ref();
            let is_one = of.is_some_and(|of| same_words(&of.domains, &comparison.domains));
            if is_one && is_name_of_command(&run.record.command) {
                known.entry(run.record.command.clone()).or_default().push(run);
            }
        }
    }
    Ok((known, skipped))
}

/// What this command line sets otherwise than the comparison of these runs.
fn differences(runs: &[StoredRun], comparison: &Comparison, plans: &[Plan]) -> Vec<String> {
    let mut found: Vec<(String, String)> = Vec::new();
    // Once each: runs of one comparison may tell of it in words of their own.
    let mut compare = |name: &str, theirs: &str, ours: &str| {
        if theirs != ours && !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_owned(), format!("{name} {}, not {}", line(theirs), line(ours))));
        }
    };
    for StoredRun { record, folder } in runs {
        let Some(plan) = plans.iter().find(|plan| plan.domain.name() == record.domain) else { continue };
        if let Some(theirs) = &record.comparison {
            if !same_words(&theirs.modes, &comparison.modes) {
                compare("`--modes`", &theirs.modes.join(","), &comparison.modes.join(","));
            }
            compare("`--runs`", &theirs.runs.to_string(), &comparison.runs.to_string());
            let interleave = |comparison: &Comparison| (!comparison.mode_after_mode).to_string();
            compare("`--interleave`", &interleave(theirs), &interleave(comparison));
        }
        compare("`--model`", &record.model, plan.model.name());
        let settings = plan.settings();
        for name in record.settings.keys().chain(settings.keys()) {
            let of =
                |settings: &BTreeMap<String, String>| settings.get(name).cloned().unwrap_or_else(|| "none".to_owned());
            compare(name, &of(&record.settings), &of(&settings));
        }
        compare("`--tag`", record.tag.as_deref().unwrap_or("none"), plan.options.tag.as_deref().unwrap_or("none"));
        compare("data from", &record.source, plan.source());
        compare("build", &record.profile, crate::plugin::profile());
        if let Some(sandbox) = record.sandbox_label() {
            compare("sandbox", &sandbox, plan.sandbox(&record.mode).as_deref().unwrap_or("none"));
        }
        let limits = plan.limits();
        for (key, value) in limits.entries() {
            let theirs = record.limits.get(key).map_or_else(|| "unknown".to_owned(), u64::to_string);
            compare(&format!("limit `{key}`"), &theirs, &value.to_string());
        }
        let budget = |budgets: &Budgets, name: &str| {
            let set = budgets.entries().into_iter().find(|(known, _)| *known == name);
            set.map_or_else(|| "none".to_owned(), |(_, value)| value)
        };
        let budgets = plan.budgets();
        for (name, _) in record.budgets.entries().into_iter().chain(budgets.entries()) {
            compare(&format!("budget `{name}`"), &budget(&record.budgets, name), &budget(&budgets, name));
        }
        // What is not decided is made again, whatever it was.
        if !is_decided(record) {
            continue;
        }
        let fingerprint = plan.fingerprint(&plan.model);
        let changed = record.fingerprint.iter().filter(|(part, digest)| {
            // A plugin that does not describe its tools is told by the next run.
            fingerprint.get(*part).is_some_and(|ours| ours != *digest)
        });
        let mut changed: Vec<&str> = changed.map(|(part, _)| part.as_str()).collect();
        if record.fingerprint.is_empty() && manifest_of(folder).is_some_and(|text| text != plan.domain.text) {
            changed.push("domain.toml");
        }
        for part in changed {
            compare(&format!("the {} of {}", line(part), record.domain), "as recorded there", "as found here now");
        }
    }
    found.into_iter().map(|(_, text)| text).collect()
}

fn manifest_of(run: &Path) -> Option<String> {
    read_manifest(run).ok()
}

fn same_words(left: &[String], right: &[String]) -> bool {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    sorted(left) == sorted(right)
}
