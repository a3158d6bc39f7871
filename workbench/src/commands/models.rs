//! Which model a command asks: the scripts of the domain, a provider's model, or the turns of a recorded run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cli::model_options::ModelOptions;
use crate::domain::Domain;
use crate::error::Failure;
use crate::model::access::AccessError;
use crate::model::anthropic::Anthropic;
use crate::model::openai::ChatCompletions;
use crate::model::provider::{Findings, ModelChoice, Provider, ProviderKind};
use crate::model::rehearsal::{self, Rehearsal};
use crate::model::types::{Model, ModelRequest};
use crate::printer;
use crate::runner::Mode;
use crate::sandbox::Sandbox;

use super::failures;

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
            ModelChoice::Rehearsal => match options.given() {
                None => Ok(Self::Rehearsal),
                Some(option) => Err(Failure::usage(format!("`{option}` is about a model that is asked, and none is"))
                    .hint("name one with `--model`; without it scripts play the model")),
            },
            ModelChoice::Of(ProviderKind::Anthropic, id) => {
                let model = Anthropic::from_environment(id, &options.of_provider()).map_err(access)?;
                Ok(Self::Provider(Arc::new(model)))
            }
            ModelChoice::Of(kind, id) => {
                match ChatCompletions::of(*kind, id, &options.of_provider()).map_err(access)? {
                    Some(model) => Ok(Self::Provider(Arc::new(model))),
                    None => Err(unknown(&options.model)),
                }
            }
            other => Err(unknown(other)),
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
        match self {
            Self::Rehearsal => {
                Ok(Findings { found: vec!["scripts of the domain, no model".to_owned()], ..Findings::default() })
            }
            Self::Provider(provider) => provider.check().await.map_err(failures::model),
        }
    }

    /// Tokens of a request as its provider counts them; nothing where it does not.
    pub(super) async fn count(&self, request: ModelRequest<'_>) -> Result<Option<u64>, Failure> {
        match self {
            Self::Rehearsal => Ok(None),
            Self::Provider(provider) => provider.count(request).await.map_err(failures::model),
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

    /// The model for one run of this mode.
    pub(super) fn open(
        &self,
        domain: &Domain,
        mode: Mode,
        sandbox: &Arc<dyn Sandbox>,
    ) -> Result<Box<dyn Model>, Failure> {
        match self {
            Self::Provider(provider) => Ok(provider.open()),
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
