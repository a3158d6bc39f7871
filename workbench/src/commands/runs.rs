//! Makes the runs that `run` and `compare` ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use tokio::sync::watch;

use crate::cli::options::RunOptions;
use crate::domain::Domain;
use crate::error::Failure;
use crate::events::Listener;
use crate::exit::Exit;
use crate::model::rehearsal::{self, Rehearsal};
use crate::model::types::Model;
use crate::plugin::profile;
use crate::results::format::RunRecord;
use crate::runner::{self, Mode, RunError, RunRequest};
use crate::sandbox::Sandbox;
use crate::web::{Source, WebError};

use super::context::{Context, Data, network, plugin, sandbox, sandbox_failure, store};

/// Everything the runs of one domain share.
pub(super) struct Plan {
    domain: Domain,
    library: std::path::PathBuf,
    data: Data,
    sandbox: Arc<dyn Sandbox>,
    options: RunOptions,
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
        context.try_results().map_err(|problem| Failure::usage(format!("the results folder {problem}")))?;
        if options.model != rehearsal::NAME {
            return Err(Failure::usage(format!("there is no model `{}` in this version", options.model))
                .hint("leave `--model` out: `rehearsal` needs no key and no network"));
        }
        let sandbox = sandbox()?;
        for mode in modes {
            model_for(&domain, *mode, &sandbox)?;
        }
        let library = context.library(&domain).await?;
        let data = context.data(&domain, &options.source)?;
        reachable(&domain, &data, options.source.offline).await?;
        Ok(Self { domain, library, data, sandbox, options: options.clone() })
    }

    /// Makes the runs, `at_once` at a time. After an interruption or a failure none is started any more, and those
    /// that were are kept: runs may have cost money.
    pub(super) async fn make(
        &self,
        context: &Context,
        jobs: &[Job],
        at_once: usize,
        listener: &Listener,
        interrupt: &watch::Receiver<bool>,
    ) -> Made {
        let failed = &AtomicBool::new(false);
        let runs = jobs.iter().map(|job| async move {
            if *interrupt.borrow() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let outcome = self.run(context, *job, listener, interrupt).await;
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            outcome.map(Some)
        });
        let mut made = Made::default();
        let mut outcomes = futures::stream::iter(runs).buffered(at_once);
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Ok(record) => made.records.extend(record),
                Err(failure) => made.failure = made.failure.or(Some(failure)),
            }
        }
        made
    }

    async fn run(
        &self,
        context: &Context,
        job: Job,
        listener: &Listener,
        interrupt: &watch::Receiver<bool>,
    ) -> Result<RunRecord, Failure> {
        let request = RunRequest {
            domain: &self.domain,
            mode: job.mode,
            command: &context.command,
            number: job.number,
            model: model_for(&self.domain, job.mode, &self.sandbox)?,
            model_name: self.options.model.clone(),
            sandbox: Some(Arc::clone(&self.sandbox)),
            library: &self.library,
            web: self.data.web.clone(),
            results: &context.results,
            limits: self.options.limits.over(&self.domain.manifest.limits),
            tag: self.options.tag.clone(),
            profile: profile().to_owned(),
            source: self.data.label.clone(),
            listener: listener.clone(),
            interrupt: interrupt.clone(),
        };
        runner::run(request).await.map_err(|error| match error {
            RunError::Plugin(error) => plugin(error),
            RunError::Sandbox(error) => sandbox_failure(error),
            RunError::Store(error) => store(error),
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
            let failure = network(error);
            Err(if domain.cassette.is_some() {
                failure.hint("without `--live` and `--route` the domain runs on its cassette")
            } else {
                failure
            })
        }
        _ => Ok(()),
    }
}

/// Who plays the model in this mode.
fn model_for(domain: &Domain, mode: Mode, sandbox: &Arc<dyn Sandbox>) -> Result<Box<dyn Model>, Failure> {
    let model = match mode {
        Mode::Serial | Mode::Loop => Rehearsal::step_by_step(domain, Arc::clone(sandbox)),
        Mode::Code => Rehearsal::scripts(domain),
    };
    model.map(|model| Box::new(model) as Box<dyn Model>).map_err(Failure::usage)
}

/// A flag that Ctrl-C or SIGTERM raises.
pub(super) fn interrupt() -> watch::Receiver<bool> {
    let (raise, flag) = watch::channel(false);
    tokio::spawn(async move {
        if asked_to_end().await {
            // Nobody listens any more: the command is ending anyway.
            let _ = raise.send(true);
        }
        raise.closed().await;
    });
    flag
}

/// Comes back when Ctrl-C or SIGTERM asks the program to end; `false` when neither can be heard.
pub(super) async fn asked_to_end() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return tokio::signal::ctrl_c().await.is_ok() };
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
        told = terminate.recv() => told.is_some(),
    }
}

/// What a command whose runs are made ends with, unless it was interrupted.
pub(super) fn unless_interrupted(interrupt: &watch::Receiver<bool>, exit: Exit) -> Exit {
    if *interrupt.borrow() { Exit::Interrupted } else { exit }
}
