//! `workbench compare`

use std::path::{Path, PathBuf};

use crate::cli::CompareArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::printer;
use crate::report::console;
use crate::results::format::RunRecord;

use super::context::Context;
use super::report;
use super::runs::{Job, Plan, interrupt, unless_interrupted};

/// Makes the runs of every domain, mode after mode, and prints their report. When something fails on the way, the
/// runs made until then are reported first.
pub(super) async fn run(context: &Context, arguments: &CompareArguments) -> Result<Exit, Failure> {
    let mut plans = Vec::new();
    let modes = distinct(&arguments.modes);
    for domain in distinct(&arguments.domains) {
        plans.push(Plan::new(context, &domain, &modes, &arguments.options).await?);
    }
    // One run of each mode before the second of any: what drifts with time meets all modes alike.
    let jobs: Vec<Job> =
        (1..=arguments.runs).flat_map(|number| modes.iter().map(move |mode| Job { mode: *mode, number })).collect();
    let (interrupt, listener) = (interrupt(), console::listener());
    let (mut records, mut failure) = (Vec::new(), None);
    for plan in &plans {
        let made = plan.make(context, &jobs, arguments.jobs as usize, &listener, &interrupt).await;
        records.extend(made.records);
        failure = made.failure;
        if failure.is_some() {
            break;
        }
    }
    if records.is_empty()
        && let Some(failure) = failure
    {
        return Err(failure);
    }
    if arguments.format == Format::Text {
        for run in first_of_each_mode(&records) {
            let folder = context.results.join(&run.domain).join(&run.run);
            if let Some(page) = first_page(&folder.join("out")) {
                printer::note(&format!("{} made {}", run.mode, page.display()));
            }
        }
    }
    let exit = report::print(records, arguments.format, &arguments.require)?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(unless_interrupted(&interrupt, exit)),
    }
}

/// What was named, once each, in the order it was named.
fn distinct<T: Clone + PartialEq>(named: &[T]) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for value in named {
        if !once.contains(value) {
            once.push(value.clone());
        }
    }
    once
}

fn first_of_each_mode(records: &[RunRecord]) -> Vec<&RunRecord> {
    let mut first: Vec<&RunRecord> = Vec::new();
    for record in records {
        if !first.iter().any(|known| (&known.domain, &known.mode) == (&record.domain, &record.mode)) {
            first.push(record);
        }
    }
    first
}

/// The page a run made, so that it can be opened.
fn first_page(out: &Path) -> Option<PathBuf> {
    let mut pages: Vec<_> = std::fs::read_dir(out)
        .ok()?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .collect();
    pages.sort();
    pages.into_iter().next()
}
