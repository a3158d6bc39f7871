//! Which model a command asks: the scripts of the domain, a provider's model, or the turns of a recorded run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cli::model_options::ModelOptions;
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::model::provider::{ModelChoice, Provider};
use crate::model::rehearsal::{self, Rehearsal};
use crate::model::types::Model;
use crate::runner::Mode;
use crate::sandbox::Sandbox;

/// Who is asked, for all runs of a command.
#[derive(Clone)]
pub(super) enum Asked {
    /// The scripts of the domain.
    Rehearsal,
    /// A provider's model.
    Provider(Arc<dyn Provider>),
}

impl Asked {
    /// What the options name. Nothing is sent yet.
    pub(super) fn of(options: &ModelOptions) -> Result<Self, Failure> {
        match &options.model {
            ModelChoice::Rehearsal => Ok(Self::Rehearsal),
            other => Err(Failure::usage(format!("there is no model `{other}` in this version"))
                .hint("leave `--model` out: `rehearsal` needs no key and no network")),
        }
    }

    /// As records name it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Rehearsal => rehearsal::NAME,
            Self::Provider(provider) => provider.name(),
        }
    }

    /// How it is asked, as records say it.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        match self {
            Self::Rehearsal => BTreeMap::new(),
            Self::Provider(provider) => provider.settings(),
        }
    }

    /// The model for one run of this mode under these limits.
    pub(super) fn open(
        &self,
        domain: &Domain,
        mode: Mode,
        limits: &Limits,
        sandbox: &Arc<dyn Sandbox>,
    ) -> Result<Box<dyn Model>, Failure> {
        match self {
            Self::Provider(provider) => Ok(provider.open()),
            Self::Rehearsal => {
                let model = match mode {
                    Mode::Serial | Mode::Loop => Rehearsal::step_by_step(domain, limits, Arc::clone(sandbox)),
                    Mode::Code => Rehearsal::scripts(domain),
                };
                model.map(|model| Box::new(model) as Box<dyn Model>).map_err(Failure::usage)
            }
        }
    }
}
