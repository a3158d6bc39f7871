//! One run: one task, one mode, one model, once.

mod budget;
#[cfg(test)]
mod budget_tests;
mod code_mode;
#[cfg(test)]
mod doubles;
mod fenced_scripts;
mod hosted_mode;
mod hosted_offer;
mod ledger;
mod loop_mode;
mod mode_tools;
mod modes;
mod opening;
pub mod prompts;
mod run;
mod session;
mod setup;
#[cfg(test)]
mod tests;
mod toolbox;
#[cfg(test)]
mod words_tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

pub use self::budget::{CallBudget, Spent};
pub use self::code_mode::{ScriptForm, script_limits};
pub use self::hosted_offer::{NotHosted, hosted_offer};
pub use self::ledger::{Caller, Ledger, OpenCall};
pub use self::modes::{Mode, UnknownMode};
pub use self::opening::Opening;
pub use self::run::run;
pub use self::session::unless_interrupted;
pub use self::toolbox::{CallFailure, ScriptBridge, ToolServer, Toolbox};
use crate::artifacts::PageError;
use crate::domain::Domain;
use crate::domain::fingerprint::Fingerprint;
use crate::domain::manifest::Limits;
use crate::events::Listener;
use crate::model::prices::Price;
use crate::model::types::Model;
use crate::plugin::PluginError;
use crate::results::format::{Budgets, Comparison};
use crate::results::store::StoreError;
use crate::sandbox::{Sandbox, SandboxError};
use crate::web::WebClient;

/// What is run, and with what.
pub struct RunRequest<'a> {
    /// The domain; it has a task.
    pub domain: &'a Domain,
    /// How the model calls tools.
    pub mode: Mode,
    /// Which command makes it; see [`crate::results::format::RunRecord::command`].
    pub command: &'a str,
    /// Counts the runs of this mode in this command, from 1.
    pub number: u32,
    /// The comparison it is a part of.
    pub comparison: Option<&'a Comparison>,
    /// Who is asked.
    pub model: Box<dyn Model>,
    /// How the record names it.
    pub model_name: String,
    /// How it is asked, as the record says it in `settings`.
    pub settings: BTreeMap<String, String>,
    /// What is measured; see [`crate::results::format::RunRecord::fingerprint`].
    pub fingerprint: Fingerprint,
    /// How scripts come from it, in mode `code`.
    pub script_form: ScriptForm,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// The provider's tool that runs its scripts in mode `hosted`, in containers that are billed; `None` where there is no such.
    pub hosted_tool: Option<&'static str>,
    /// Where scripts run; mode `code` needs one.
    pub sandbox: Option<Arc<dyn Sandbox>>,
    /// The folder of all results.
    pub results: &'a Path,
    /// What ends the run, its scripts and its calls.
    pub limits: Limits,
    /// What ends it before its next request.
    pub budgets: Budgets,
    /// What the user calls this run.
    pub tag: Option<String>,
    /// `debug` or `release`.
    pub profile: String,
    /// The plugin's library, built.
    pub library: &'a Path,
    /// What fetches for the tools and for the verifier; the run counts its own share.
    pub web: WebClient,
    /// How the record names where the data comes from: `cassette`, `live` or the routes.
    pub source: String,
    /// Who hears what happens.
    pub listener: Listener,
    /// Raised by Ctrl-C.
    pub interrupt: watch::Receiver<bool>,
}

/// Why there is no run to judge. Whatever the model or its calls do wrong is a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The domain has nothing to do.
    #[error("the domain {domain} has no task to run; write a [task] in its domain.toml")]
    NoTask {
        /// The domain.
        domain: String,
    },
    /// A tool that mode `hosted` cannot offer.
    #[error(transparent)]
    NotHosted(#[from] NotHosted),
    /// Mode `code` without a sandbox.
    #[error("mode code needs a sandbox, and this build has none")]
    NoSandbox,
    /// The plugin.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The domain's page templates.
    #[error(transparent)]
    Pages(#[from] PageError),
    /// The sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The results folder.
    #[error(transparent)]
    Store(#[from] StoreError),
}
