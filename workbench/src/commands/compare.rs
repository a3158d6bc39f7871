//! `workbench compare`

use std::path::{Path, PathBuf};

use crate::cli::CompareArguments;
use crate::cli::options::Format;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::provider::ModelChoice;
use crate::printer;
use crate::report::console;
use crate::results::format::{Comparison, RunRecord};
use crate::runner::{Mode, unless_interrupted};

use super::context::Context;
use super::interrupt::unless_raised;
use super::models::Asked;
use super::purse::Purse;
use super::runs::{Batch, Draft, Plan};
use super::{estimate, hosted, report, resume};

/// Makes the runs of every domain, and prints their report. When something fails on the way, the
/// runs made until then are reported first.
pub(super) async fn run(context: &Context, arguments: &CompareArguments) -> Result<Exit, Failure> {
    let planning = async {
        let model = Asked::of(&arguments.options.model, &context.results)?;
        let domains = named(context, arguments)?;
        let fallback = arguments.options.model.hosted_fallback;
        let modes = hosted::settle(context, modes_of(arguments), &domains, &model, fallback).await?;
        let plans_of = async |modes: &[Mode]| plans(context, arguments, domains.clone(), model.clone(), modes).await;
        let plans = plans_of(&modes).await?;
        match hosted::settle_tools(&plans, &modes, fallback)? {
            None => Ok((modes, plans)),
            Some(modes) => plans_of(&modes).await.map(|plans| (modes, plans)),
        }
    };
    let Some(planned) = unless_interrupted(&mut context.interrupt.clone(), planning).await else {
        return Ok(Exit::Interrupted);
    };
    let (modes, plans) = planned?;
    let comparison = Comparison {
        domains: plans.iter().map(|plan| plan.domain.name().to_owned()).collect(),
        modes: modes.iter().map(ToString::to_string).collect(),
        runs: arguments.runs,
        mode_after_mode: !arguments.interleave,
    };
    let command = match &arguments.resume {
        None => context.name_of_command(),
        Some(wanted) => resume::find(context, wanted.as_deref(), &comparison, &plans)?,
    };
    let _held = context.hold(&command)?;
    let jobs = resume::jobs_of(&comparison);
    let earlier = match &arguments.resume {
        None => Vec::new(),
        Some(_) => resume::runs_of(context, &command, &comparison)?,
    };
    let mut records = resume::decided(&earlier);
    let left = resume::left(&records, &plans, &jobs);
    if arguments.resume.is_some() {
        let number: usize = left.iter().map(|(_, jobs)| jobs.len()).sum();
        printer::note(&format!("resuming {command}: {} decided, {number} to be made", records.len()));
    }
    let reached = async {
        for (plan, _) in &left {
            plans[*plan].reachable().await?;
        }
        Ok::<(), Failure>(())
    };
    let Some(reached) = unless_interrupted(&mut context.interrupt.clone(), reached).await else {
        return Ok(Exit::Interrupted);
    };
    reached?;
    estimate::tell(context, &plans, &left).await;
    let purse = arguments.max_total_cost.map(|limit| Purse::new(limit, earlier.iter().map(|run| &run.record)));
    let batch = Batch {
        command: &command,
        comparison: Some(&comparison),
        at_once: arguments.jobs as usize,
        purse: purse.as_ref(),
    };
    let (listener, mut failure) = (console::listener(), None);
    for (plan, jobs) in left {
        let made = plans[plan].make(context, &batch, &jobs, &listener).await;
        records.extend(made.records);
        failure = made.failure;
        if failure.is_some() {
            break;
        }
    }
    if let Some(purse) = &purse {
        purse.tell();
    }
    if records.is_empty()
        && let Some(failure) = failure
    {
        return Err(failure);
    }
    records.sort_by_key(|run| {
        let domain = comparison.domains.iter().position(|domain| *domain == run.domain);
        (domain, jobs.iter().position(|job| job.mode.name() == run.mode && job.number == run.number))
    });
    if arguments.format == Format::Text {
        for run in first_of_each_mode(&records) {
            let folder = context.results.join(&run.domain).join(&run.run);
            if let Some(page) = first_page(&folder.join("out")) {
                printer::note(&format!("{} made {}", run.mode, page.display()));
            }
        }
    }
    for plan in &plans {
        plan.tell_broken_scripts(context, first_of_each_mode(&records));
    }
    let exit = report::print(records, arguments.format, &arguments.require)?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(unless_raised(&context.interrupt, exit)),
    }
}

/// The modes that were named, or those that are compared where none is: `serial` costs most and tells least.
fn modes_of(arguments: &CompareArguments) -> Vec<Mode> {
    match distinct(&arguments.modes) {
        named if !named.is_empty() => named,
        _ if arguments.options.model.model.is_paid() => vec![Mode::Loop, Mode::Code],
        _ => vec![Mode::Serial, Mode::Loop, Mode::Code],
    }
}

/// A plan for each domain that was named, for a model that can be asked. All that is wrong with the command line is told
/// before the model's server is asked and anything is built.
async fn plans(
    context: &Context,
    arguments: &CompareArguments,
    domains: Vec<String>,
    model: Asked,
    modes: &[Mode],
) -> Result<Vec<Plan>, Failure> {
    let mut drafts: Vec<Draft> = Vec::new();
    for domain in domains {
        let draft = Draft::new(context, &domain, modes, &arguments.options, &model)?;
        if arguments.max_total_cost.is_some() {
            draft.needs_price("--max-total-cost")?;
        }
        match drafts.iter().find(|known| known.domain.name() == draft.domain.name()) {
            None => drafts.push(draft),
            Some(known) if known.domain.folder.canonicalize().ok() == draft.domain.folder.canonicalize().ok() => {}
            Some(known) => {
                let (name, one, other) =
                    (draft.domain.name(), known.domain.folder.display(), draft.domain.folder.display());
                return Err(Failure::usage(format!("two domains are called {name}: {one} and {other}"))
                    .hint("their runs would lie in one folder; compare them one after the other"));
            }
        }
    }
    model.check().await?;
    drafts.iter().try_for_each(|draft| draft.make_room(context))?;
    let mut plans = Vec::new();
    for draft in drafts {
        plans.push(draft.ready(context).await?);
    }
    Ok(plans)
}

/// The domains that were named, or all of the workspace that can be compared; of the others it is told why not.
fn named(context: &Context, arguments: &CompareArguments) -> Result<Vec<String>, Failure> {
    if !arguments.all {
        return Ok(distinct(&arguments.domains));
    }
    let rehearses = matches!(arguments.options.model.model, ModelChoice::Rehearsal);
    let mut domains = Vec::new();
    for name in context.workspace.all() {
        let missing = match context.domain(&name) {
            Err(failure) => {
                printer::note(&format!("note: {name} is left out, since it cannot be read: {failure}"));
                continue;
            }
            Ok(domain) if domain.manifest.task.is_none() => "it has no `[task]`",
            Ok(domain) if rehearses && domain.rehearsal.is_none() => "it has no rehearsal",
            Ok(_) => {
                domains.push(name);
                continue;
            }
        };
        printer::note(&format!("note: {name} is left out: {missing}"));
    }
    if domains.is_empty() {
        return Err(Failure::usage(format!("no domain in {} can be compared", context.workspace.place())));
    }
    Ok(domains)
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn modes_that_are_compared_when_none_is_named() {
        for (model, words) in [
            ("rehearsal", "serial loop code"),
            ("ollama:qwen3:8b", "serial loop code"),
            ("anthropic:claude-haiku-5-5", "loop code"),
            ("openai:any", "loop code"),
            ("openrouter:any", "loop code"),
        ] {
            for (named, words) in [(None, words), (Some("code,serial,code"), "code serial")] {
                let mut line = vec!["workbench", "compare", "d", "--model", model];
                line.extend(named.into_iter().flat_map(|named| ["--modes", named]));
                let Ok(Cli { command: Command::Compare(arguments), .. }) = Cli::try_parse_from(&line) else {
                    panic!("{line:?}")
                };
                let modes: Vec<&str> = modes_of(&arguments).into_iter().map(Mode::name).collect();
                assert_eq!(modes.join(" "), words, "{line:?}");
            }
        }
    }
}
