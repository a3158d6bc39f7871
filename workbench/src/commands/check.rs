//! `workbench check`

use std::path::PathBuf;

use crate::check::modes::{FAILED, ModeOutcome, NO_SCRIPT};
use crate::check::rules::Passed;
use crate::check::{CHECK_FORMAT, Level, Report, manifest, modes, probes, rules, shape, text, tools};
use crate::cli::CheckArguments;
use crate::cli::options::{Format, RunOptions};
use crate::domain::Domain;
use crate::error::Failure;
use crate::events::Listener;
use crate::exit::Exit;
use crate::files::OwnFolder;
use crate::printer;
use crate::results::format::RunRecord;
use crate::runner::Mode;

use super::context::Context;
use super::models::Asked;
use super::print_json;
use super::runs::{Batch, Draft, Job};

/// Looks at a domain from its manifest to its rules; exit 1 when something is short. Nothing of its rehearsals is kept.
pub(super) async fn run(context: &Context, arguments: &CheckArguments) -> Result<Exit, Failure> {
    let domain = context.domain(&arguments.domain)?;
    let data = context.data(&domain, &arguments.source)?;
    let offered = context.idle_session(&domain).await?.toolbox.tools().to_vec();
    let (of_probes, reached) = probes::section(&domain, &data.web).await;
    let rehearsals = rehearse(context, &domain, arguments, reached).await?;
    let outcome = |made: &Made| ModeOutcome::of(&domain, &offered, &of_probes, &made.record, &made.folder);
    let outcomes: Vec<ModeOutcome> = rehearsals.made.iter().map(outcome).collect();
    let in_code = rehearsals.made.iter().find(|made| made.record.mode == Mode::Code.name());
    let passed = |made: &&Made| made.record.verify.as_ref().is_some_and(|verdict| verdict.ok);
    let passed = in_code.filter(passed).or_else(|| rehearsals.made.iter().find(passed));
    let passed = passed.map(|made| Passed { run: &made.folder, mode: &made.record.mode });
    let (of_rules, mutations) =
        rules::section(&domain, passed, &data.web.uninjected()).await.map_err(Failure::usage)?;
    let has_failed = outcomes.iter().any(|outcome| outcome.mode == Mode::Code.name() && outcome.fault.is_some());
    let of_shape = match in_code {
        Some(_) if has_failed => Err(FAILED),
        Some(made) => Ok(made.folder.as_path()),
        None => Err(rehearsals.why_not(Mode::Code)),
    };
    let of_modes = modes::section(&domain, &of_probes, &outcomes, &rehearsals.not_made);
    let report = Report {
        format: CHECK_FORMAT,
        domain: domain.name().to_owned(),
        source: data.label.clone(),
        sections: vec![
            manifest::section(&domain),
            tools::section(&domain, &offered),
            of_probes,
            shape::section(&domain, of_shape),
            of_modes,
            of_rules,
        ],
        modes: outcomes,
        mutations,
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => printer::data(&text::report(&report)),
    }
    Ok(if report.count(Level::Short) == 0 { Exit::Success } else { Exit::Short })
}

/// What was rehearsed.
#[derive(Default)]
struct Rehearsals {
    made: Vec<Made>,
    /// Modes that were not, and why.
    not_made: Vec<(Mode, String)>,
    /// The folder they are gone with.
    _place: Option<OwnFolder>,
}

impl Rehearsals {
    /// Why a mode was not rehearsed.
    fn why_not(&self, mode: Mode) -> &str {
        self.not_made.iter().find(|(other, _)| *other == mode).map_or("it was not made", |(_, reason)| reason)
    }
}

struct Made {
    record: RunRecord,
    folder: PathBuf,
}

/// Rehearses the task in every mode that has a script. `reached` says whether the API answers at all: rehearsals without
/// it would fail slowly, and say nothing.
async fn rehearse(
    context: &Context,
    domain: &Domain,
    arguments: &CheckArguments,
    reached: bool,
) -> Result<Rehearsals, Failure> {
    let mut rehearsals = Rehearsals::default();
    let mut jobs = Vec::new();
    for mode in Mode::ALL {
        let reason = match Asked::Rehearsal.open(domain, mode, &domain.manifest.limits) {
            _ if !has_script(domain, mode) => NO_SCRIPT.to_owned(),
            _ if domain.prompt.is_none() => "there is no task".to_owned(),
            _ if !reached => "the API cannot be reached".to_owned(),
            Err(failure) => failure.error.to_string(),
            Ok(_) => {
                jobs.push(Job { mode, number: 1 });
                continue;
            }
        };
        rehearsals.not_made.push((mode, reason));
    }
    if jobs.is_empty() {
        return Ok(rehearsals);
    }
    context.try_results(None).map_err(|problem| Failure::usage(format!("the results folder {problem}")))?;
    let options =
        RunOptions { source: arguments.source.clone(), sandbox: arguments.sandbox.clone(), ..RunOptions::default() };
    let modes: Vec<Mode> = jobs.iter().map(|job| job.mode).collect();
    let plan = Draft::over(context, domain.clone(), Asked::Rehearsal, &modes, &options)?.ready(context).await?;
    let place = context.own_folder("check")?;
    let context = context.with_results(place.path());
    let batch = Batch { command: &context.name_of_command(), comparison: None, at_once: jobs.len(), purse: None };
    let made = plan.make(&context, &batch, &jobs, &Listener::none()).await;
    if let Some(failure) = made.failure {
        return Err(failure);
    }
    let with_folder = |record: RunRecord| Made { folder: place.path().join(&record.domain).join(&record.run), record };
    rehearsals.made = made.records.into_iter().map(with_folder).collect();
    rehearsals._place = Some(place);
    Ok(rehearsals)
}

fn has_script(domain: &Domain, mode: Mode) -> bool {
    domain.rehearsal.as_ref().is_some_and(|rehearsal| match mode {
        Mode::Code => !rehearsal.code_scripts.is_empty(),
        Mode::Serial | Mode::Loop => rehearsal.loop_script.is_some(),
    })
}
