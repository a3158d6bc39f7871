//! Makes the runs that `run` and `compare` ask for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::check::modes::script_fault;
use crate::check::probes::{Health, ask};
use crate::cli::model_options::CodeAs;
use crate::cli::options::{RunOptions, SourceOptions};
use crate::domain::fingerprint::{self, Fingerprint};
use crate::domain::manifest::Limits;
use crate::domain::{Domain, Rehearsal};
use crate::error::Failure;
use crate::events::Listener;
use crate::model::prices::{Price, Prices};
use crate::plugin::profile;
use crate::printer::{self, line};
use crate::report::summary::passed;
use crate::results::format::{Budgets, Comparison, RunRecord, sandbox_label};
use crate::results::sweep::sweep_domain;
use crate::runner::{self, Mode, NotHosted, RunError, RunRequest, hosted_offer};
use crate::sandbox::Sandbox;
use crate::web::{Source, WebClient, WebError};
use futures::StreamExt;
use plugin_api::wire::ToolSpec;

use super::context::{Context, Data};
use super::failures;
use super::models::Asked;
use super::purse::Purse;

/// Everything the runs of one domain share.
pub(super) struct Plan {
    pub(super) domain: Domain,
    /// Its tools; nothing where its plugin cannot describe them.
    tools: Option<Vec<ToolSpec>>,
    library: std::path::PathBuf,
    data: Data,
    /// Where scripts run, when a run is to have any.
    sandbox: Option<Arc<dyn Sandbox>>,
    pub(super) model: Asked,
    /// What is measured, whoever is asked.
    fingerprint: Fingerprint,
    /// What the model costs, where that is known.
    pub(super) price: Option<Price>,
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
    /// What they may cost together.
    pub(super) purse: Option<&'a Purse>,
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

/// A plan for runs whose plugin is not built yet, and whose model was not asked anything: what is wrong with a command line
/// is told by making one.
pub(super) struct Draft {
    pub(super) domain: Domain,
    data: Data,
    has_scripts: bool,
    model: Asked,
    price: Option<Price>,
    options: RunOptions,
}

impl Draft {
    /// Finds the domain, looks at what is asked for, and opens the domain's data. Nothing is sent and nothing built.
    pub(super) fn new(
        context: &Context,
        domain: &str,
        modes: &[Mode],
        options: &RunOptions,
        model: &Asked,
    ) -> Result<Self, Failure> {
        let domain = context.domain(domain)?;
        if options.model.code_as == CodeAs::Text && !modes.contains(&Mode::Code) {
            return Err(Failure::usage("`--code-as text` is about mode code, and no run is of that mode"));
        }
        Self::over(context, domain, model.clone(), modes, options)
    }

    /// As [`Self::new`], over a domain that was found.
    pub(super) fn over(
        context: &Context,
        domain: Domain,
        model: Asked,
        modes: &[Mode],
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        let prices = Prices::load(options.budgets.prices.as_deref()).map_err(Failure::usage)?;
        let price = prices.of(model.name()).cloned();
        for mode in modes {
            model.open(&domain, *mode, &options.limits.over(&domain.manifest.limits))?;
        }
        let data = context.data(&domain, &options.source)?;
        let has_scripts = modes.contains(&Mode::Code);
        let draft = Self { domain, data, has_scripts, model, price, options: options.clone() };
        if options.budgets.max_cost.is_some() {
            draft.needs_price("--max-cost")?;
        }
        Ok(draft)
    }

    /// Refuses the flag of a budget of money that could not be kept.
    pub(super) fn needs_price(&self, flag: &str) -> Result<(), Failure> {
        let model = self.model.name();
        if !matches!(self.model, Asked::Provider(_)) {
            let message = format!("`{flag}` is about what a model costs, and none is asked by `{model}`");
            return Err(
                Failure::usage(message).hint("leave it out, or set `--max-tokens-read` or `--max-seconds` instead")
            );
        }
        let caches = self.model.settings().get("caching").is_some_and(|caching| caching != "off");
        let problem = match &self.price {
            None if self.model.tells_costs() => return Ok(()),
            None => format!("`{flag}` needs a price, and none is known of `{model}`"),
            Some(price) if !price.covers(caches, self.options.model.caching) => {
                format!("`{flag}` needs a whole price, and a part of that of `{model}` is not known")
            }
            Some(_) => return Ok(()),
        };
        Err(Failure::usage(problem).hint(
            "name it with `--prices FILE`, in the form of workbench/prices.toml, or set `--max-tokens-read` instead",
        ))
    }

    /// Makes the folder of the domain's results, where it is not there, and takes away what dead commands left in it.
    pub(super) fn make_room(&self, context: &Context) -> Result<(), Failure> {
        let results = context.try_results(Some(self.domain.name()));
        results.map_err(|problem| Failure::usage(format!("the results folder {problem}")))?;
        sweep_domain(&context.results, self.domain.name());
        Ok(())
    }

    /// Opens the sandbox and builds the plugin.
    pub(super) async fn ready(self, context: &Context) -> Result<Plan, Failure> {
        let Self { domain, data, has_scripts, model, price, options } = self;
        let sandbox = if has_scripts {
            let limits = options.limits.over(&domain.manifest.limits);
            Some(context.sandboxes.open(&options.sandbox, &limits, domain.name()).await?)
        } else {
            None
        };
        let library = context.library(&domain).await?;
        // A plugin that cannot be started is told by the first run.
        let tools = context.described(&domain, &library, &data.web).await;
        let fingerprint = domain.fingerprint(tools.as_deref());
        Ok(Plan { domain, tools, library, data, sandbox, model, fingerprint, price, options })
    }
}

impl Plan {
    /// Why its tools cannot be offered in mode `hosted`.
    pub(super) fn not_hosted(&self) -> Option<NotHosted> {
        hosted_offer(self.tools.as_deref()?, &self.domain.manifest.callers).err()
    }

    /// Asks the API's first probe once, when runs would go to the network: an API that cannot be reached is no fault of
    /// a model, and must not be measured as one.
    pub(super) async fn reachable(&self) -> Result<(), Failure> {
        let Some(probe) = self.domain.manifest.api.probe.first() else { return Ok(()) };
        let web = &self.data.web;
        if self.options.source.offline || *web.source() == Source::Cassette {
            return Ok(());
        }
        match ask(&web.uninjected(), probe).await {
            Health::NoAnswer(error @ WebError::Unreachable { .. }) => {
                let failure = failures::network(error);
                Err(if self.domain.cassette.is_some() {
                    failure.hint("without `--live` and `--route` the domain runs on its cassette")
                } else {
                    failure
                })
            }
            _ => Ok(()),
        }
    }

    /// Makes the runs. After an interruption or a failure none is started any more, and those
    /// that were are kept: runs may have cost money.
    pub(super) async fn make(&self, context: &Context, batch: &Batch<'_>, jobs: &[Job], listener: &Listener) -> Made {
        let failed = &AtomicBool::new(false);
        let runs = jobs.iter().map(|job| async move {
            if *context.interrupt.borrow() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if batch.purse.is_some_and(|purse| !purse.allows_one_more()) {
                return Ok(None);
            }
            let outcome = self.run(context, batch, *job, listener).await;
            if let (Some(purse), Ok(record)) = (batch.purse, &outcome) {
                purse.pay(record);
            }
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

    /// Says how the scripts of a rehearsal ended that did not do their task: the rules judge the files alone.
    pub(super) fn tell_broken_scripts(&self, context: &Context, runs: Vec<&RunRecord>) {
        let ours = |run: &&RunRecord| run.domain == self.domain.name() && !passed(run);
        for run in runs.into_iter().filter(ours).filter(|_| matches!(self.model, Asked::Rehearsal)) {
            let folder = context.results.join(&run.domain).join(&run.run);
            let Some((fault, file)) = script_fault(&self.domain, run, &folder) else { continue };
            let place = fault.line.map_or_else(String::new, |line| format!(", line {line}"));
            printer::note(&format!("note: {}: its script {} ({file}{place})", run.mode, line(&fault.words)));
            if let Some(hint) = fault.hint(&self.domain.reference, self.tools.as_deref().unwrap_or_default()) {
                printer::note(&format!("hint: {hint}"));
            }
        }
    }

    /// The limits its runs have.
    pub(super) fn limits(&self) -> Limits {
        self.options.limits.over(&self.domain.manifest.limits)
    }

    /// How its model is asked, as records say it.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        self.settings_of(&self.model)
    }

    fn settings_of(&self, model: &Asked) -> BTreeMap<String, String> {
        let mut settings = model.settings();
        if self.options.model.code_as == CodeAs::Text {
            settings.insert("code_as".to_owned(), "text".to_owned());
        }
        settings
    }

    /// What runs measure in which this model is asked. The scripts of a rehearsal are what another model would be.
    pub(super) fn fingerprint(&self, model: &Asked) -> Fingerprint {
        let rehearsal = self.domain.rehearsal.as_ref().filter(|_| matches!(model, Asked::Rehearsal));
        let scripts = rehearsal.and_then(Rehearsal::digest).map(|digest| (fingerprint::REHEARSAL.to_owned(), digest));
        self.fingerprint.clone().into_iter().chain(scripts).collect()
    }

    /// What its runs may use up beside that.
    pub(super) fn budgets(&self) -> Budgets {
        self.options.budgets.budgets()
    }

    /// Where its data comes from, as records say it.
    pub(super) fn source(&self) -> &str {
        &self.data.label
    }

    /// What fetches for its runs.
    pub(super) fn web(&self) -> &WebClient {
        &self.data.web
    }

    /// Where scripts of a mode run, as records say it.
    pub(super) fn sandbox(&self, mode: &str) -> Option<String> {
        if mode == Mode::Hosted.name() {
            return self.hosted_tool(&self.model).map(str::to_owned);
        }
        self.sandbox.as_ref().map(|sandbox| sandbox_label(sandbox.name(), &sandbox.settings()))
    }

    /// The tool of a model's provider that runs scripts, where that has versions.
    pub(super) fn hosted_tool(&self, model: &Asked) -> Option<&'static str> {
        model.has_code_execution().then(|| self.options.model.code_execution.tool())
    }

    /// A rehearsal in this mode on the domain's cassette, for its figures: nothing of it is kept. Nothing where the domain
    /// has no rehearsal of this mode or no cassette, and where the rehearsal fails.
    pub(super) async fn rehearse(&self, context: &Context, mode: Mode) -> Option<RunRecord> {
        self.domain.cassette.as_ref()?;
        let folder = context.own_folder("rehearsal").ok()?;
        let source = SourceOptions { offline: true, ..SourceOptions::default() };
        let data = context.data(&self.domain, &source).ok()?;
        let batch = Batch { command: "rehearsal", comparison: None, at_once: 1, purse: None };
        let request = RunRequest {
            price: None,
            results: folder.path(),
            budgets: Budgets::default(),
            web: data.web.clone(),
            source: data.label.clone(),
            ..self.request(context, &batch, Job { mode, number: 1 }, &Asked::Rehearsal, &Listener::none()).ok()?
        };
        runner::run(request).await.ok()
    }

    async fn run(
        &self,
        context: &Context,
        batch: &Batch<'_>,
        job: Job,
        listener: &Listener,
    ) -> Result<RunRecord, Failure> {
        let request = self.request(context, batch, job, &self.model, listener)?;
        runner::run(request).await.map_err(|error| match error {
            RunError::Plugin(error) => failures::plugin(error),
            RunError::Sandbox(error) => failures::sandbox(error),
            RunError::Store(error) => failures::store(error),
            other => Failure::usage(other),
        })
    }

    fn request<'a>(
        &'a self,
        context: &'a Context,
        batch: &'a Batch<'_>,
        job: Job,
        model: &Asked,
        listener: &Listener,
    ) -> Result<RunRequest<'a>, Failure> {
        Ok(RunRequest {
            domain: &self.domain,
            mode: job.mode,
            command: batch.command,
            number: job.number,
            comparison: batch.comparison,
            model: model.open(&self.domain, job.mode, &self.limits())?,
            model_name: model.name().to_owned(),
            settings: self.settings_of(model),
            fingerprint: self.fingerprint(model),
            script_form: self.options.model.code_as.script_form(),
            price: self.price.clone(),
            hosted_tool: self.hosted_tool(model),
            sandbox: self.sandbox.clone().map(Sandbox::of_run),
            library: &self.library,
            web: self.data.web.clone(),
            results: &context.results,
            limits: self.limits(),
            budgets: self.budgets(),
            tag: self.options.tag.clone(),
            profile: profile().to_owned(),
            source: self.data.label.clone(),
            listener: listener.clone(),
            interrupt: context.interrupt.clone(),
        })
    }
}
