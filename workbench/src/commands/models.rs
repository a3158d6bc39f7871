//! Which model a command asks: the scripts of the domain, a provider's model, or the turns of a recorded run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::cli::model_options::{CodeAs, ModelOptions};
use crate::domain::Domain;
use crate::error::Failure;
use crate::model::provider::{ModelChoice, Provider};
use crate::model::rehearsal::{self, Rehearsal};
use crate::model::replay::{Recording, Replay};
use crate::model::types::Model;
use crate::runner::Mode;
use crate::sandbox::Sandbox;

use super::recorded_run;

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
        match &options.model {
            ModelChoice::Rehearsal => Ok(Self::Rehearsal),
            ModelChoice::Replay(run) => replayed(run, options.code_as, results).map(Self::Replay),
            other => Err(Failure::usage(format!("there is no model `{other}` in this version"))
                .hint("leave `--model` out: `rehearsal` needs no key and no network")),
        }
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

    /// The model for one run of this mode.
    pub(super) fn open(
        &self,
        domain: &Domain,
        mode: Mode,
        sandbox: &Arc<dyn Sandbox>,
    ) -> Result<Box<dyn Model>, Failure> {
        match self {
            Self::Provider(provider) => Ok(provider.open()),
            Self::Replay(recording) => {
                fits(recording, domain, mode)?;
                Ok(Box::new(Replay::new(Arc::clone(recording))))
            }
            Self::Rehearsal => {
                let model = match mode {
                    Mode::Serial | Mode::Loop => Rehearsal::step_by_step(domain, Arc::clone(sandbox)),
                    Mode::Code => Rehearsal::scripts(domain),
                };
                model.map(|model| Box::new(model) as Box<dyn Model>).map_err(Failure::usage)
            }
        }
    }
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
