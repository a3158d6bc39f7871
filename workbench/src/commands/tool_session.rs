//! A domain's tools brought to work together for a command without a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plugin_api::wire::ToolSpec;

use crate::artifacts::{OutFolder, Pages};
use crate::cli::options::SourceOptions;
use crate::domain::Domain;
use crate::domain::manifest::Limits;
use crate::error::Failure;
use crate::events::{Event, Listener, RunKey};
use crate::files;
use crate::plugin::{ClientSettings, PluginClient, RunServices};
use crate::printer;
use crate::results::format::CallRecord;
use crate::runner::{Caller, Ledger, Toolbox, script_limits};
use crate::sandbox::fault::ScriptFault;
use crate::sandbox::{Sandbox, Script, ScriptOutcome, ToolForm};
use crate::web::{Counters, WebClient};

use super::context::{Context, Data};
use super::failures;

/// Folder of a domain's results where commands without a run put their files.
const BY_HAND: &str = "by-hand";

/// A domain's tools for a command without a run.
pub(super) struct ToolSession {
    pub(super) toolbox: Arc<Toolbox>,
    plugin: Arc<PluginClient>,
    pub(super) out: PathBuf,
    data: Data,
    domain: String,
    limits: Limits,
    calls: Arc<Mutex<Vec<CallRecord>>>,
}

impl Context {
    /// The domain's tools, with files kept from one command to the next, so that `call download_image`
    /// and then `call make_contact_sheet` do what they say.
    pub(super) async fn tool_session(
        &self,
        domain: &Domain,
        source: &SourceOptions,
        limits: Limits,
    ) -> Result<ToolSession, Failure> {
        self.tool_session_in(domain, self.data(domain, source)?, limits, BY_HAND).await
    }

    /// As [`Context::tool_session`], for a command that looks at the tools and calls none: nothing is written.
    pub(super) async fn idle_session(&self, domain: &Domain) -> Result<ToolSession, Failure> {
        let data = self.data(domain, &SourceOptions::default())?;
        self.open_session(domain, data, domain.manifest.limits.clone(), BY_HAND).await
    }

    /// As [`Context::tool_session`], with data and a folder of one's own.
    pub(super) async fn tool_session_in(
        &self,
        domain: &Domain,
        data: Data,
        limits: Limits,
        folder: &str,
    ) -> Result<ToolSession, Failure> {
        let out = self.out(domain, folder);
        // A plugin may write by itself to a folder that is there when its worker starts. Where it cannot be made, tools
        // that save nothing work all the same.
        _ = fs::create_dir_all(&out);
        files::sweep(&out);
        self.open_session(domain, data, limits, folder).await
    }

    /// The tools as their plugin describes them; nothing when it cannot.
    pub(super) async fn described(&self, domain: &Domain, library: &Path, web: &WebClient) -> Option<Vec<ToolSpec>> {
        let seconds = domain.manifest.limits.tool_seconds;
        let plugin = start_plugin(domain, library, web, &self.out(domain, BY_HAND), seconds).await.ok()?;
        let tools = plugin.tools().to_vec();
        plugin.stop().await;
        Some(tools)
    }

    fn out(&self, domain: &Domain, folder: &str) -> PathBuf {
        self.results.join(domain.name()).join(folder).join("out")
    }

    async fn open_session(
        &self,
        domain: &Domain,
        data: Data,
        limits: Limits,
        folder: &str,
    ) -> Result<ToolSession, Failure> {
        let library = self.library(domain).await?;
        let out = self.out(domain, folder);
        let client = start_plugin(domain, &library, &data.web, &out, limits.tool_seconds).await?;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&calls);
        let listener = Listener::new(move |event| {
            if let Event::CallEnded(_, call) = event {
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            }
        });
        let key = RunKey { domain: domain.name().to_owned(), mode: String::new(), number: 0 };
        let plugin = Arc::new(client);
        let toolbox = Toolbox::new(plugin.clone(), limits.tool_calls, Ledger::new(key, listener, None));
        Ok(ToolSession {
            toolbox: Arc::new(toolbox),
            plugin,
            out,
            data,
            domain: domain.name().to_owned(),
            limits,
            calls,
        })
    }
}

/// A plugin that saves to `out`, where that folder is.
async fn start_plugin(
    domain: &Domain,
    library: &Path,
    web: &WebClient,
    out: &Path,
    tool_seconds: u64,
) -> Result<PluginClient, Failure> {
    let pages = Pages::load(&domain.folder.join("templates")).map_err(Failure::usage)?;
    let services = RunServices::new(web.clone(), OutFolder::new(out), pages);
    let services = services.with_expressions(domain.tool_expressions());
    let tools = domain.manifest.declared();
    let settings = ClientSettings { tool_seconds, out: out.to_owned(), tools, program: None };
    PluginClient::start(library, Arc::new(services), settings).await.map_err(failures::plugin)
}

impl ToolSession {
    /// Runs one script over the tools, which it finds in this form; tracebacks call it `file`.
    pub(super) async fn script(
        &self,
        file: &str,
        source: &str,
        form: ToolForm,
        sandbox: &Arc<dyn Sandbox>,
    ) -> Result<ScriptOutcome, Failure> {
        let script = Script {
            source,
            file,
            tools: self.toolbox.tools(),
            domain: &self.domain,
            announce_waiting: false,
            form,
            limits: script_limits(&self.limits),
        };
        let bridge = self.toolbox.bridge(Caller { turn: 0, script: Some(1) }, form);
        sandbox.run(&script, &bridge).await.map_err(failures::sandbox)
    }

    /// Shows the way on when a script called `file` ended because it does not fit the tools.
    pub(super) fn tell_hint(&self, file: &str, outcome: &ScriptOutcome) {
        let fault = ScriptFault::of(&outcome.reply(usize::MAX), file);
        if let Some(hint) = fault.and_then(|fault| fault.hint(&self.domain, self.toolbox.tools())) {
            printer::note(&format!("hint: {hint}"));
        }
    }

    /// The calls made so far, in the order they ended.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prints what the plugin logged or printed: an author looks for it here.
    pub(super) fn tell_log(&self) {
        printer::error_text(&printer::plain(&self.plugin.log()));
    }

    /// Requests sent, and answered without the network.
    pub(super) fn counters(&self) -> Counters {
        self.data.web.counters()
    }
}
