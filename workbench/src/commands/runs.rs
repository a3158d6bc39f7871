//! Makes the runs that `run` and `compare` ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::options::RunOptions;
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::events::Listener;
use crate::plugin::profile;
use crate::results::format::{Comparison, RunRecord};
use crate::results::sweep::sweep_domain;
use crate::runner::{self, Mode, RunError, RunRequest};
use crate::sandbox::Sandbox;
use crate::web::{Source, WebClient, WebError};
use futures::StreamExt;

use super::context::{Context, Data, sandbox};
use super::failures;
use super::models::Asked;

/// Everything the runs of one domain share.
pub(super) struct Plan {
    pub(super) domain: Domain,
    library: std::path::PathBuf,
    data: Data,
    sandbox: Arc<dyn Sandbox>,
    pub(super) model: Asked,
    pub(super) options: RunOptions,
}

/// What the runs that are made together have in common.
pub(super) struct Batch<'a> {
    /// Name of the command; see [`RunRecord::command`].
    pub(super) command: &'a str,
    /// The comparison they are a part of.
    pub(super) comparison: Option<&'a Comparison>,
    /// Most runs under way at once.
    pub(super) at_once: usize,
}

/// The runs that were made, and why there are no more.
#[derive(Default)]
pub(super) struct Made {
    pub(super) records: Vec<RunRecord>,
    pub(super) failure: Option<Failure>,
}

/// A run to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) mode: Mode,
    /// Counts the runs of this mode, from 1.
    pub(super) number: u32,
}

impl Plan {
    /// Finds the domain, builds its plugin, and opens its data: whatever can fail before the first run.
    pub(super) async fn new(
        context: &Context,
        domain: &str,
        modes: &[Mode],
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        let domain = context.domain(domain)?;
        let results = context.try_results(Some(domain.name()));
        results.map_err(|problem| Failure::usage(format!("the results folder {problem}")))?;
        let model = Asked::of(&options.model, &context.results)?;
        sweep_domain(&context.results, domain.name());
        Self::over(context, domain, model, modes, options).await
    }

    /// As [`Self::new`], over a domain that was found, and a model.
    pub(super) async fn over(
        context: &Context,
        domain: Domain,
        model: Asked,
        modes: &[Mode],
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        let sandbox = sandbox()?;
        for mode in modes {
            model.open(&domain, *mode, &sandbox)?;
        }
        let library = context.library(&domain).await?;
        let data = context.data(&domain, &options.source)?;
        reachable(&domain, &data, options.source.offline).await?;
        Ok(Self { domain, library, data, sandbox, model, options: options.clone() })
    }

    /// Makes the runs. After an interruption or a failure none is started any more, and those
    /// that were are kept: runs may have cost money.
    pub(super) async fn make(&self, context: &Context, batch: &Batch<'_>, jobs: &[Job], listener: &Listener) -> Made {
        let failed = &AtomicBool::new(false);
        let runs = jobs.iter().map(|job| async move {
            if *context.interrupt.borrow() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let outcome = self.run(context, batch, *job, listener).await;
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            outcome.map(Some)
        });
        let mut made = Made::default();
        let mut outcomes = futures::stream::iter(runs).buffered(batch.at_once);
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Ok(record) => made.records.extend(record),
                Err(failure) => made.failure = made.failure.or(Some(failure)),
            }
        }
        made
    }

    /// The limits its runs have.
    pub(super) fn limits(&self) -> Limits {
        self.options.limits.over(&self.domain.manifest.limits)
    }

    /// Where its data comes from, as records say it.
    pub(super) fn source(&self) -> &str {
        &self.data.label
    }

    /// What fetches for its runs.
    pub(super) fn web(&self) -> &WebClient {
        &self.data.web
    }

    /// Where its scripts run, as records say it.
    pub(super) fn sandbox(&self) -> &'static str {
        self.sandbox.name()
    }

    async fn run(
        &self,
        context: &Context,
        batch: &Batch<'_>,
        job: Job,
        listener: &Listener,
    ) -> Result<RunRecord, Failure> {
        let request = RunRequest {
            domain: &self.domain,
            mode: job.mode,
            command: batch.command,
            number: job.number,
            comparison: batch.comparison,
            model: self.model.open(&self.domain, job.mode, &self.sandbox)?,
            model_name: self.model.name().to_owned(),
            settings: self.model.settings(),
            sandbox: Some(Arc::clone(&self.sandbox)),
            library: &self.library,
            web: self.data.web.clone(),
            results: &context.results,
            limits: self.limits(),
            tag: self.options.tag.clone(),
            profile: profile().to_owned(),
            source: self.data.label.clone(),
            listener: listener.clone(),
            interrupt: context.interrupt.clone(),
        };
        runner::run(request).await.map_err(|error| match error {
            RunError::Plugin(error) => failures::plugin(error),
            RunError::Sandbox(error) => failures::sandbox(error),
            RunError::Store(error) => failures::store(error),
            other => Failure::usage(other),
        })
    }
}

/// Asks the API's first probe once, when runs would go to the network: an API that cannot be reached is no fault of a
/// model, and must not be measured as one.
async fn reachable(domain: &Domain, data: &Data, offline: bool) -> Result<(), Failure> {
    let Some(probe) = domain.manifest.api.probe.first() else { return Ok(()) };
    if offline || *data.web.source() == Source::Cassette {
        return Ok(());
    }
    match data.web.uninjected().fetch(&probe.get).await {
        Err(error @ WebError::Unreachable { .. }) => {
            let failure = failures::network(error);
            Err(if domain.cassette.is_some() {
                failure.hint("without `--live` and `--route` the domain runs on its cassette")
            } else {
                failure
            })
        }
        _ => Ok(()),
    }
}
