//! The section `rules`: rules that notice nothing. A result that has passed is changed in many ways and judged each time;
//! a rule that passes whatever was done to it says nothing about a model.

use std::fs;
use std::io;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::Value;

use super::documents::{List, lists};
use super::manifest::{evidence_of, used_evidence};
use super::mutations::{Mutation, changes, deletions, shares};
use super::{Section, listed};
use crate::domain::Domain;
use crate::domain::manifest::Source;
use crate::printer;
use crate::report::table::counted;
use crate::results::format::{RuleStatus, Verdict};
use crate::results::store::{StoreError, read_evidence, read_ledger};
use crate::verify::{Fetch, judge};
use crate::web::WebClient;

/// Changes of one kind, and the rules that noticed them alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mutated {
    /// What was done.
    pub mutation: String,
    /// In how many ways.
    pub times: usize,
    /// Rules that then failed, in the manifest's order.
    pub failed: Vec<String>,
    /// Rules that could not be judged.
    pub undecided: Vec<String>,
}

/// A result that has passed.
#[derive(Clone, Copy)]
pub struct Passed<'a> {
    /// Its run's folder; the files in `out/` are changed, and put back.
    pub run: &'a Path,
    /// Its mode.
    pub mode: &'a str,
}

/// Why the rules could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its files cannot be changed.
    #[error("the files of the result cannot be changed")]
    Files(#[from] io::Error),
}

/// Changes the result and judges it again and again. What a rule reads of the API comes from the run's evidence, what is
/// not there from `web`.
///
/// # Errors
/// When the run cannot be read or its files cannot be changed.
pub async fn section(
    domain: &Domain,
    passed: Option<Passed<'_>>,
    web: &WebClient,
) -> Result<(Section, Vec<Mutated>), TrialError> {
    let mut section = Section::new("rules");
    if domain.manifest.verify.is_empty() {
        section.note(
            "there are no rules, so no run is ever verified",
            "write `[evidence]` and `[[verify]]` in domain.toml (docs/manifest.md)",
        );
        return Ok((section, Vec::new()));
    }
    let Some(passed) = passed else {
        section.note(
            "no rehearsal passes, so there is no good result to change, and whether rules notice is not known",
            "let the rehearsal in code mode do the whole task",
        );
        return Ok((section, Vec::new()));
    };
    let out = passed.run.join("out");
    let evidence = read_evidence(passed.run)?.unwrap_or(Value::Null);
    let calls = read_ledger(passed.run)?;
    let (deleted, kept) = deletions(&out)?;
    let used = used_evidence(domain);
    let evidence_used = domain.manifest.evidence.iter().filter(|(name, _)| used.contains(*name));
    let lists: Vec<List> = evidence_used.flat_map(|(name, entry)| lists(name, entry, &out)).collect();
    let counts: Vec<usize> = lists.iter().map(|list| changes(list, &calls).len()).collect();
    let shares = shares(&counts);
    let trial = Trial { domain, out: &out, fetch: Fetch::Completed(&evidence, web) };
    let progress = progress(deleted.len() + shares.iter().sum::<usize>());
    let mut tried = Vec::new();
    for mutation in deleted {
        tried.push(trial.of(mutation, None).await?);
        progress.inc(1);
    }
    for (list, share) in lists.iter().zip(&shares) {
        // Made one by one: a large file in every way at once would fill the memory.
        for change in changes(list, &calls).into_iter().take(*share) {
            if let Some(content) = change.made(list) {
                tried.push(trial.of(change.mutation, Some(content)).await?);
            }
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    section.fact(format!("the result in mode {} was changed in {}", passed.mode, counted(tried.len() as u64, "way")));
    if kept > 0 {
        section.fact(format!("{kept} more files were not deleted: the first show what becomes of such files"));
    }
    let left_out = counts.iter().sum::<usize>() - shares.iter().sum::<usize>();
    if left_out > 0 {
        let shortened = lists.iter().zip(counts.iter().zip(&shares)).filter(|(_, (count, share))| count > share);
        let names: Vec<&str> = shortened.map(|(list, _)| list.name.trim_matches('`')).collect();
        section.fact(format!("{left_out} more changes were not tried, of {}", listed(names)));
    }
    tell_rules(&mut section, domain, &tried);
    tell_mutations(&mut section, &tried);
    Ok((section, together(&tried)))
}

/// A bar of so many changes; on a terminal only.
fn progress(changes: usize) -> ProgressBar {
    if !printer::is_interactive() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("changing the result: {pos} of {len} ways").ok();
    let bar = ProgressBar::new(changes as u64);
    style.into_iter().fold(bar, ProgressBar::with_style)
}

/// A change, and what became of the rules, by their names.
struct Tried {
    mutation: Mutation,
    /// Whether the file was there, with another content.
    is_content: bool,
    failed: Vec<String>,
    undecided: Vec<String>,
}

/// What changes are tried on.
struct Trial<'a> {
    domain: &'a Domain,
    out: &'a Path,
    fetch: Fetch<'a>,
}

impl Trial<'_> {
    /// Judges the result with the change, and takes the change back.
    async fn of(&self, mutation: Mutation, content: Option<String>) -> io::Result<Tried> {
        let file = self.out.join(&mutation.file);
        let before = fs::read(&file)?;
        match &content {
            Some(content) => fs::write(&file, content)?,
            None => fs::remove_file(&file)?,
        }
        let verdict = judge(self.domain, self.out, self.fetch).await.verdict;
        fs::write(&file, before)?;
        let (failed, undecided) = (with(&verdict, RuleStatus::Fail), with(&verdict, RuleStatus::Error));
        Ok(Tried { mutation, is_content: content.is_some(), failed, undecided })
    }
}

fn with(verdict: &Verdict, status: RuleStatus) -> Vec<String> {
    verdict.rules.iter().filter(|rule| rule.status == status).map(|rule| rule.name.clone()).collect()
}

/// Rules that noticed nothing, or only that a file was gone.
fn tell_rules(section: &mut Section, domain: &Domain, tried: &[Tried]) {
    for rule in &domain.manifest.verify {
        let name = &rule.name;
        let noticed =
            |changed: bool| tried.iter().any(|tried| tried.is_content == changed && tried.failed.contains(name));
        if noticed(true) {
            continue;
        }
        let undecided = tried.iter().filter(|tried| tried.undecided.contains(name)).count();
        if undecided > 0 {
            section.note(
                format!("rule `{name}` was not seen to fail, and could not be judged in {undecided} of the ways"),
                "record what it asks the API for, or check with `--live`",
            );
        } else if !noticed(false) {
            section.warn(
                format!("rule `{name}` notices nothing: it passed whatever was done to the result"),
                format!("mend its `check`, `{}`: it should be false of a wrong result", rule.check),
            );
        } else if reads_content(domain, &rule.check) {
            section.warn(
                format!("rule `{name}` only notices that a file is gone: it passed whatever was in it"),
                format!("mend its `check`, `{}`: it should be false of a wrong content", rule.check),
            );
        }
    }
}

/// Whether an expression is about more than that files are there.
fn reads_content(domain: &Domain, check: &str) -> bool {
    evidence_of(domain, check).iter().any(|name| is_content(domain, name))
}

/// Whether evidence is what stands in a file or a record, or is made of such.
fn is_content(domain: &Domain, name: &str) -> bool {
    let Some(entry) = domain.manifest.evidence.get(name) else { return false };
    match entry.source() {
        Some(Source::Html(_) | Source::Json(_) | Source::Text(_) | Source::Get(_)) => true,
        Some(Source::Value(_)) => entry.needs().iter().any(|name| is_content(domain, name)),
        Some(Source::Image(_) | Source::File(_)) | None => false,
    }
}

/// Harm that no rule noticed, nor might have.
fn tell_mutations(section: &mut Section, tried: &[Tried]) {
    let unnoticed = |tried: &&Tried| tried.mutation.is_harm && tried.failed.is_empty() && tried.undecided.is_empty();
    let (gone, changed): (Vec<&Tried>, Vec<&Tried>) =
        tried.iter().filter(unnoticed).partition(|tried| !tried.is_content);
    if !gone.is_empty() {
        section.warn(
            format!(
                "no rule notices when {} is deleted",
                listed(gone.iter().map(|tried| tried.mutation.file.as_str()))
            ),
            "add evidence and a rule for what the task asks for, or do not ask for it",
        );
    }
    for alike in changed.chunk_by(|one, other| one.mutation.list == other.mutation.list) {
        let list = alike[0].mutation.list.as_deref().unwrap_or_default();
        let mut done: Vec<&str> = alike.iter().map(|tried| tried.mutation.what).collect();
        done.dedup();
        section.warn(
            format!("no rule notices this in {list}: {}", done.join("; ")),
            "add a rule, if that makes the result wrong",
        );
    }
}

/// One row for changes of one kind that the same rules noticed.
fn together(tried: &[Tried]) -> Vec<Mutated> {
    let mut rows: Vec<(&Tried, usize)> = Vec::new();
    for one in tried {
        let is_alike = |row: &&mut (&Tried, usize)| {
            row.0.mutation.what == one.mutation.what
                && row.0.mutation.list == one.mutation.list
                && row.0.failed == one.failed
                && row.0.undecided == one.undecided
        };
        match rows.iter_mut().find(is_alike) {
            Some(row) => row.1 += 1,
            None => rows.push((one, 1)),
        }
    }
    let row = |(tried, times): (&Tried, usize)| {
        let Tried { mutation, failed, undecided, .. } = tried;
        let what = match (&mutation.list, times) {
            (Some(list), _) => format!("{list}: {}", mutation.what),
            (None, 1) => format!("{} {}", mutation.what, mutation.file),
            (None, _) => format!("{} {}, or one like it", mutation.what, mutation.file),
        };
        Mutated { mutation: what, times, failed: failed.clone(), undecided: undecided.clone() }
    };
    rows.into_iter().map(row).collect()
}
