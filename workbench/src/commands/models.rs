//! Which model a command asks: the scripts of the domain, a provider's model, or the turns of a recorded run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::cli::model_options::{CodeAs, ModelOptions};
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::model::access::AccessError;
use crate::model::anthropic::Anthropic;
use crate::model::openai::ChatCompletions;
use crate::model::provider::{Findings, ModelChoice, Programmatic, Provider, ProviderKind};
use crate::model::rehearsal::{self, Rehearsal};
use crate::model::replay::{Recording, Replay};
use crate::model::types::{Model, ModelRequest};
use crate::printer::{self, line};
use crate::runner::Mode;

use super::hosted_rehearsal::HostedRehearsal;
use super::sandboxes::embedded;
use super::{failures, recorded_run};

/// Who is asked, for all runs of a command.
#[derive(Clone)]
pub(super) enum Asked {
    /// The scripts of the domain.
    Rehearsal,
    /// A provider's model.
    Provider(Arc<dyn Provider>),
    /// What the model of a run said.
    Replay(Arc<Recording>),
}

impl Asked {
    /// What the options name; runs are looked for in `results`. Nothing is sent yet.
    pub(super) fn of(options: &ModelOptions, results: &Path) -> Result<Self, Failure> {
        let idle = match options.model {
            ModelChoice::Of(..) => None,
            ModelChoice::Rehearsal | ModelChoice::Replay(_) => options.given(),
        };
        if let Some(option) = idle {
            return Err(Failure::usage(format!("`{option}` is about a model that is asked, and none is"))
                .hint("name one with `--model`; without it scripts play the model"));
        }
        match &options.model {
            ModelChoice::Rehearsal => Ok(Self::Rehearsal),
            ModelChoice::Replay(run) => replayed(run, options.code_as, results).map(Self::Replay),
            ModelChoice::Of(ProviderKind::Anthropic, id) => {
                let model = Anthropic::from_environment(id, &options.of_provider()).map_err(access)?;
                Ok(Self::Provider(Arc::new(model)))
            }
            ModelChoice::Of(kind, _) if options.caching => Err(Failure::usage(format!(
                "`--caching` cannot be asked of `{}`: its server caches as it likes",
                kind.name()
            ))
            .hint("leave it out; cached tokens stand apart in the figures where the server tells them")),
            ModelChoice::Of(kind, id) => {
                match ChatCompletions::of(*kind, id, &options.of_provider()).map_err(access)? {
                    Some(model) => Ok(Self::Provider(Arc::new(model))),
                    None => Err(unknown(&options.model)),
                }
            }
        }
    }

    /// Looks whether it can be asked, before the first run and whatever else costs time or money; what works otherwise
    /// than expected is told.
    pub(super) async fn check(&self) -> Result<(), Failure> {
        for warning in self.look().await?.warnings {
            printer::note(&format!("warning: {}: {warning}", self.name()));
        }
        Ok(())
    }

    /// What a look at it tells.
    pub(super) async fn look(&self) -> Result<Findings, Failure> {
        let nobody = |who: &str| Ok(Findings { found: vec![format!("{who}, no model")], ..Findings::default() });
        match self {
            Self::Rehearsal => nobody("scripts of the domain"),
            Self::Replay(_) => nobody("the turns of a recorded run"),
            Self::Provider(provider) => {
                let Findings { found, warnings } = provider.check().await.map_err(failures::model)?;
                // Words of the server are among them.
                let [found, warnings] = [found, warnings].map(|texts| texts.iter().map(|text| line(text)).collect());
                Ok(Findings { found, warnings })
            }
        }
    }

    /// Tokens of a request as its provider counts them; nothing where it does not.
    pub(super) async fn count(&self, request: ModelRequest<'_>) -> Result<Option<u64>, Failure> {
        match self {
            Self::Rehearsal | Self::Replay(_) => Ok(None),
            Self::Provider(provider) => provider.count(request).await.map_err(failures::model),
        }
    }

    /// Whether scripts that its provider runs are run by a tool that has versions, in containers that are billed.
    pub(super) fn has_code_execution(&self) -> bool {
        let prefix = format!("{}:", ProviderKind::Anthropic.name());
        matches!(self, Self::Provider(provider) if provider.name().starts_with(&prefix))
    }

    /// Whether mode `hosted` can be asked of it, as far as that depends on the model.
    pub(super) async fn can_be_hosted(&self) -> Result<bool, Failure> {
        match self {
            Self::Rehearsal | Self::Replay(_) => Ok(true),
            Self::Provider(provider) => {
                Ok(provider.programmatic().await.map_err(failures::model)? == Programmatic::Supported)
            }
        }
    }

    /// Whether its provider says what each request cost.
    pub(super) fn tells_costs(&self) -> bool {
        matches!(self, Self::Provider(provider) if provider.tells_costs())
    }

    /// As records name it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Rehearsal => rehearsal::NAME,
            Self::Provider(provider) => provider.name(),
            Self::Replay(recording) => recording.name(),
        }
    }

    /// How it is asked, as records say it.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        match self {
            Self::Rehearsal => BTreeMap::new(),
            Self::Provider(provider) => provider.settings(),
            Self::Replay(recording) => recording.settings(),
        }
    }

    /// The model for one run of this mode under these limits.
    pub(super) fn open(&self, domain: &Domain, mode: Mode, limits: &Limits) -> Result<Box<dyn Model>, Failure> {
        match self {
            Self::Provider(provider) => Ok(provider.open()),
            Self::Replay(recording) => {
                fits(recording, domain, mode)?;
                Ok(Box::new(Replay::new(Arc::clone(recording))))
            }
            Self::Rehearsal if mode == Mode::Hosted => {
                let cells = Rehearsal::cells(domain).map_err(|error| {
                    Failure::usage(error).hint(
                        "write it (docs/first-domain.md shows one, below `Where the provider runs the script`), or take \
                         another mode",
                    )
                })?;
                Ok(Box::new(HostedRehearsal::new(cells, embedded()?, limits)))
            }
            Self::Rehearsal => {
                let model = match mode {
                    Mode::Serial | Mode::Loop => Rehearsal::step_by_step(domain, limits, embedded()?),
                    Mode::Code | Mode::Hosted => Rehearsal::scripts(domain),
                };
                model.map(|model| Box::new(model) as Box<dyn Model>).map_err(Failure::usage)
            }
        }
    }
}

/// What is missing before a model can be asked.
fn access(error: AccessError) -> Failure {
    let is_missing = matches!(error, AccessError::NoKey(..));
    let failure = Failure::usage(error);
    if is_missing {
        failure.hint(
            "without a key, `rehearsal` plays a model (leave `--model` out), and `ollama:ID`, `llamacpp:ID` and `vllm:ID` \
             are models on this machine",
        )
    } else {
        failure
    }
}

fn unknown(model: &ModelChoice) -> Failure {
    Failure::usage(format!("there is no model `{model}` in this version"))
        .hint("leave `--model` out: `rehearsal` needs no key and no network")
}

fn replayed(run: &str, code_as: CodeAs, results: &Path) -> Result<Arc<Recording>, Failure> {
    let recording = recorded_run::open(results, run)?;
    let (run, is_asked) = (recording.run(), code_as == CodeAs::Text);
    match (recording.has_scripts_in_words(), is_asked) {
        (true, false) => Err(Failure::usage(format!("the scripts of {run} stand in its model's words"))
            .hint("write `--code-as text`, as for the run")),
        (false, true) => Err(Failure::usage(format!("the scripts of {run} do not stand in its model's words"))
            .hint("leave out `--code-as text`")),
        _ => Ok(recording),
    }
}

/// What was said in one mode, over the tools of one domain, means nothing elsewhere.
fn fits(recording: &Recording, domain: &Domain, mode: Mode) -> Result<(), Failure> {
    let (run, record) = (recording.run(), &recording.record);
    if record.domain != domain.name() {
        let (of_run, name) = (&record.domain, domain.name());
        return Err(Failure::usage(format!("{run} is a run of the domain `{of_run}`, not of `{name}`")));
    }
    let of_run = recorded_run::mode_of(recording)?;
    if of_run != mode {
        return Err(Failure::usage(format!("{run} is a run of mode {of_run}, and cannot be replayed in mode {mode}"))
            .hint(format!("`run … --mode {of_run}`, `compare … --modes {of_run}`, or `workbench replay {run}`")));
    }
    Ok(())
}
