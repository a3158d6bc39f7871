//! A recorded run, and how it is played again: what `replay`, `record --from` and `--model replay:RUN` share.
//!
//! The run may have been handed in. So its plugin, its addresses, its headers and its cassette are those of a domain of
//! ours; its own are its words, its rules, and limits that cost us nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::artifacts;
use crate::cli::model_options::{CodeAs, ModelOptions};
use crate::cli::options::{Rules, RunLimitOptions, RunOptions, SourceOptions};
use crate::cli::sandbox_options::{SandboxChoice, SandboxOptions};
use crate::domain::Domain;
use crate::domain::declared::DeclaredTool;
use crate::domain::fingerprint::TOOLS;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::files::OwnFolder;
use crate::model::prices::Prices;
use crate::model::provider::ModelChoice;
use crate::model::replay::{Recording, RecordingError};
use crate::model::transcript::Transcript;
use crate::printer;
use crate::report::audit::{Audit, PricesOfRun, Side};
use crate::report::console;
use crate::results::find::find_run;
use crate::results::format::{RunRecord, Stop, setting};
use crate::runner::{Mode, prompts};
use crate::sandbox::docker;
use crate::verify::{Fetch, judge};
use crate::web::WebClient;

use super::context::{Context, injections_of_run, require_cassette, source_of_run};
use super::failures;
use super::models::Asked;
use super::runs::{Batch, Draft, Job, Plan};

/// The run of this name or folder, read and checked.
pub(super) fn open(results: &Path, asked: &str) -> Result<Arc<Recording>, Failure> {
    let folder = find_run(results, asked).map_err(failures::store)?;
    Recording::open(&folder, prompts::is_cut_off).map(Arc::new).map_err(|error| match error {
        RecordingError::Store(error) => failures::store(error),
        other => Failure::usage(other),
    })
}

/// The mode of a run.
pub(super) fn mode_of(recording: &Recording) -> Result<Mode, Failure> {
    recording.record.mode.parse().map_err(Failure::usage)
}

/// How a run is played again.
pub(super) struct Replaying<'a> {
    pub(super) recording: &'a Arc<Recording>,
    /// The domain whose tools serve it; see [`tools_of`].
    pub(super) domain: Domain,
    /// Whose rules judge.
    pub(super) rules: Rules,
    /// Where data comes from; what it leaves open is as in the run.
    pub(super) source: SourceOptions,
    /// Limits in the place of those of the run.
    pub(super) limits: RunLimitOptions,
    /// Where scripts run, in the place of the run's sandbox.
    pub(super) sandbox: Option<SandboxChoice>,
    /// A file with the prices of the run, where they are not built in.
    pub(super) prices: Option<&'a Path>,
    /// Whether the replay is kept as a run among the results.
    pub(super) keep: bool,
}

/// A replay that was made.
pub(super) struct Replayed {
    /// How it differs from the run.
    pub(super) audit: Audit,
    /// What has fetched for it.
    pub(super) web: WebClient,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// Where scripts ran in the run and in its replay, when that is not the same.
    pub(super) moved: Option<[String; 2]>,
    /// The folder it is gone with, where it is not kept.
    _place: Option<OwnFolder>,
}

/// The domain of ours that has the tools of a run: the one that was named, or the workspace's of the run's name. What a
/// run names is not looked for anywhere else, and a plugin that its copy of the manifest names is never loaded.
pub(super) fn tools_of(context: &Context, recording: &Recording, named: Option<&str>) -> Result<Domain, Failure> {
    let of_run = &recording.record.domain;
    let domain = match named {
        Some(named) => context.domain(named)?,
        None if context.workspace.domains().contains(of_run) => context.domain(of_run)?,
        None => {
            // What stands beside is only named: what a run calls its domain chooses no plugin.
            let beside =
                context.workspace.all().into_iter().find(|name| name.strip_prefix("./") == Some(of_run.as_str()));
            let folder = beside.unwrap_or_else(|| "FOLDER".to_owned());
            return Err(Failure::usage(format!("the workspace has no domain `{of_run}`, whose tools the run called"))
                .hint(format!("name the folder of the domain with `--domain {folder}`; its plugin will be run")));
        }
    };
    if domain.name() != of_run {
        let (run, name) = (recording.run(), domain.name());
        return Err(Failure::usage(format!("{run} is a run of the domain `{of_run}`, not of `{name}`")));
    }
    Ok(domain)
}

impl Replaying<'_> {
    /// Plays the run, and compares the two; nothing when it was interrupted.
    pub(super) async fn play(self, context: &Context) -> Result<Option<Replayed>, Failure> {
        let Self { recording, domain, rules, source, limits, sandbox, prices, keep } = self;
        let prices = Prices::load(prices).map_err(Failure::usage)?;
        let mode = mode_of(recording)?;
        let source = source_of(recording, &source)?;
        let copy = Domain::load_copy(&recording.folder).map_err(Failure::usage)?;
        let tools_of_run = copy.manifest.tool.clone();
        let domain = as_in_the_run(recording, domain, copy, rules)?;
        require_cassette(&domain, &source)?;
        context
            .try_results(keep.then_some(domain.name()))
            .map_err(|problem| Failure::usage(format!("the results folder {problem}")))?;
        let options = RunOptions {
            model: model_of(recording),
            source,
            limits,
            sandbox: sandbox_of(recording, sandbox),
            ..RunOptions::default()
        };
        let asked = Asked::Replay(Arc::clone(recording));
        let plan = Draft::over(context, domain, asked, &[mode], &options)?.ready(context).await?;
        plan.reachable().await?;
        tell_other_tools(recording, &tools_of_run, &plan);
        let place = if keep { None } else { Some(context.own_folder("replay")?) };
        let context = match &place {
            Some(place) => &context.with_results(place.path()),
            None => context,
        };
        let batch = Batch { command: &context.name_of_command(), comparison: None, at_once: 1, purse: None };
        let made = plan.make(context, &batch, &[Job { mode, number: 1 }], &console::listener()).await;
        if let Some(failure) = made.failure {
            return Err(failure);
        }
        let Some(mut record) = made.records.into_iter().next().filter(|record| record.stop != Stop::Interrupted) else {
            return Ok(None);
        };
        let folder = context.results.join(&record.domain).join(&record.run);
        judge_as_recorded(recording, &plan, &mut record, &folder).await;
        let transcript = Transcript::read(&folder).map_err(Failure::usage)?;
        let files = artifacts::compare(&recording.folder.join("out"), &folder.join("out")).map_err(|error| {
            Failure::usage(format!(
                "the files in {} cannot be compared: {error}",
                recording.folder.join("out").display()
            ))
        })?;
        let recorded =
            Side { said_by: recording.said_by(), record: &recording.record, transcript: &recording.transcript };
        let replayed = Side { said_by: recording.name(), record: &record, transcript: &transcript };
        let moved = moved(&recording.record, &record);
        let prices = prices_of(&recording.record, &prices);
        let mut audit = Audit::of(recording.run(), recorded, replayed, files, prices);
        audit.kept = keep.then(|| folder.display().to_string());
        Ok(Some(Replayed { audit, web: plan.web().clone(), folder, moved, _place: place }))
    }
}

/// A run that was cut off has a verdict when it was judged later. Its replay ends with a record that ends, and is judged
/// likewise.
async fn judge_as_recorded(recording: &Recording, plan: &Plan, record: &mut RunRecord, folder: &Path) {
    if recording.record.verify.is_some() && record.verify.is_none() {
        let web = plan.web().uninjected();
        let judgement = judge(&plan.domain, &folder.join("out"), Fetch::Web(&web)).await.excused(&record.faults);
        record.verify = Some(judgement.verdict);
    }
}

/// The prices a record names, where they are known.
fn prices_of<'a>(record: &RunRecord, known: &'a Prices) -> PricesOfRun<'a> {
    let Some(named) = &record.prices else { return PricesOfRun::None };
    let price = known.of_origin(&record.model, named);
    price.map_or(PricesOfRun::Unknown, PricesOfRun::Known)
}

fn model_of(recording: &Recording) -> ModelOptions {
    let code_as = if recording.has_scripts_in_words() { CodeAs::Text } else { CodeAs::Tool };
    ModelOptions { model: ModelChoice::Replay(recording.run().to_owned()), code_as, ..ModelOptions::default() }
}

/// The sandbox of the run, unless the user names another. Never a network: whoever handed the run in would choose what
/// its scripts reach here.
fn sandbox_of(recording: &Recording, named: Option<SandboxChoice>) -> SandboxOptions {
    let record = &recording.record;
    let sandbox = named.unwrap_or(match record.sandbox.as_deref() {
        Some(docker::NAME) => SandboxChoice::Docker,
        _ => SandboxOptions::default().sandbox,
    });
    let reuse = sandbox == SandboxChoice::Docker && record.sandbox_settings.contains_key(setting::CONTAINER);
    SandboxOptions { sandbox, reuse, ..SandboxOptions::default() }
}

/// Where scripts ran in a run and in its replay, when the sandboxes or their images differ. Those of a provider are not run again.
fn moved(recorded: &RunRecord, replayed: &RunRecord) -> Option<[String; 2]> {
    if recorded.mode == Mode::Hosted.name() {
        return None;
    }
    let both = [recorded, replayed];
    let place = |record: &RunRecord, with_image: bool| {
        let image = record.sandbox_settings.get(setting::IMAGE).filter(|_| with_image);
        let image = image.map(|image| format!(", image {image}")).unwrap_or_default();
        record.sandbox_label().unwrap_or_else(|| "a sandbox that it does not name".to_owned()) + &image
    };
    // The image is a long word, and is said where nothing else is the difference.
    let found = [false, true].map(|with_image| both.map(|record| place(record, with_image)));
    found.into_iter().find(|[there, here]| there != here)
}

/// What the user says, and for what that leaves open the run's own source and its injected faults.
fn source_of(recording: &Recording, given: &SourceOptions) -> Result<SourceOptions, Failure> {
    let recorded = &recording.record.source;
    let mut source = source_of_run(given, recording.run(), recorded)?;
    if source.injections.is_empty() {
        source.injections = injections_of_run(recorded)?;
    }
    Ok(source)
}

/// Our domain as the run had it, as far as that is harmless: with its rules and its limits.
fn as_in_the_run(recording: &Recording, mut domain: Domain, copy: Domain, rules: Rules) -> Result<Domain, Failure> {
    if copy.name() != domain.name() {
        let (run, name) = (recording.run(), copy.name());
        return Err(Failure::usage(format!(
            "{run} is a run of `{}`, and its domain.toml is of `{name}`",
            domain.name()
        )));
    }
    if domain.prompt.as_ref().is_some_and(|prompt| *prompt != recording.transcript.task) {
        printer::note(&format!("note: the task of {} is not worded as it was in the run", domain.folder.display()));
    }
    // What is said again answers the task of then.
    domain.manifest.task = copy.manifest.task;
    domain.prompt = Some(recording.transcript.task.clone());
    if rules == Rules::Run {
        if domain.manifest.verify != copy.manifest.verify || domain.manifest.evidence != copy.manifest.evidence {
            printer::note(&format!(
                "note: judged by the rules kept with the run, which are not those of {}; `--rules workspace` judges by these",
                domain.folder.display()
            ));
        }
        (domain.manifest.verify, domain.manifest.evidence) = (copy.manifest.verify, copy.manifest.evidence);
        domain.text = copy.text;
    }
    let (limits, lowered) = limits_of(&domain.manifest.limits, &recording.record.limits);
    domain.manifest.limits = limits;
    if !lowered.is_empty() {
        printer::note(&format!(
            "note: a replay has no higher limits than the domain, unless you give them; the run had {}",
            lowered.join(", ")
        ));
    }
    Ok(domain)
}

/// Says so when our tools are not those that the run called: which of the declared ones, or else that they are described
/// or set up otherwise.
fn tell_other_tools(recording: &Recording, of_run: &[DeclaredTool], plan: &Plan) {
    let ours = &plan.domain.manifest.tool;
    let known = |tools: &[DeclaredTool], name: &str| tools.iter().any(|tool| tool.name == name);
    let (mut changed, mut gone) = (Vec::new(), Vec::new());
    for tool in of_run.iter().filter(|tool| !ours.contains(tool)) {
        if known(ours, &tool.name) { &mut changed } else { &mut gone }.push(tool.name.as_str());
    }
    let new: Vec<&str> = ours.iter().map(|tool| tool.name.as_str()).filter(|name| !known(of_run, name)).collect();
    let lists = [("declared otherwise", changed), ("in the run only", gone), ("here only", new)];
    let lists = lists.iter().filter(|(_, names)| !names.is_empty());
    let told: Vec<String> = lists.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    let here = plan.fingerprint(&plan.model);
    let there = &recording.record.fingerprint;
    let differs = there.get(TOOLS).zip(here.get(TOOLS)).is_some_and(|(there, here)| there != here);
    if !told.is_empty() || differs {
        let told = if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) };
        printer::note(&printer::line(&format!(
            "note: the tools of {} are not those that the run called{told}: what differs may come from that",
            plan.domain.folder.display()
        )));
    }
}

/// A run may have been made to cost us more than it did its author, so of turns, calls, seconds and memory a replay has at
/// most what the domain grants; what the run had more of is named. How much a model read of an output costs nothing.
fn limits_of(own: &Limits, recorded: &BTreeMap<String, u64>) -> (Limits, Vec<String>) {
    let of = |key: &str, own: u64| recorded.get(key).copied().unwrap_or(own).max(1);
    let mut lowered = Vec::new();
    let mut at_most = |key: &str, own: u64| {
        let theirs = of(key, own);
        if theirs > own {
            lowered.push(format!("{key} {theirs}, not {own}"));
        }
        theirs.min(own)
    };
    // Never more than the domain's own, which fits.
    let mut count = |key: &str, own: u32| u32::try_from(at_most(key, u64::from(own))).unwrap_or(own);
    let limits = Limits {
        serial_turns: count("serial_turns", own.serial_turns),
        loop_turns: count("loop_turns", own.loop_turns),
        code_turns: count("code_turns", own.code_turns),
        hosted_turns: count("hosted_turns", own.hosted_turns),
        tool_calls: count("tool_calls", own.tool_calls),
        script_seconds: at_most("script_seconds", own.script_seconds),
        script_memory_mb: at_most("script_memory_mb", own.script_memory_mb),
        tool_seconds: at_most("tool_seconds", own.tool_seconds),
        output_chars: usize::try_from(of("output_chars", own.output_chars as u64)).unwrap_or(usize::MAX),
    };
    (limits, lowered)
}
