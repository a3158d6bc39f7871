//! A run from beginning to end: folder, plugin, conversation, verdict.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use tokio::sync::watch;

use super::code_mode::prepare;
use super::session::unless_interrupted;
use super::setup::RunSetup;
use super::toolbox::ToolServer;
use super::{Mode, RunError, RunRequest};
use crate::artifacts::{OutFolder, Pages};
use crate::domain::Domain;
use crate::events::Event;
use crate::plugin::{CallOutcome, ClientSettings, PluginClient, RunServices};
use crate::results::format::{RunRecord, Stop};
use crate::results::store::RunFolder;
use crate::verify::{self, Fetch};
use crate::web::WebClient;

/// Runs the task to its end, has the result judged, and returns the record, which is also in the
/// run's folder. A fault that is nobody's verdict, such as a model that cannot be reached or Ctrl-C,
/// ends a run that is not judged; its artifacts are kept.
///
/// # Errors
/// When the run cannot be set up or written down. A folder that exists by then says why in its
/// record's `stop_detail`.
pub async fn run(request: RunRequest<'_>) -> Result<RunRecord, RunError> {
    let domain = request.domain;
    let Some(prompt) = domain.prompt.as_deref() else {
        return Err(RunError::NoTask { domain: domain.name().to_owned() });
    };
    if request.mode == Mode::Code && request.sandbox.is_none() {
        return Err(RunError::NoSandbox);
    }
    let web = request.web.scoped();
    let (listener, mut interrupt) = (request.listener.clone(), request.interrupt.clone());
    let mut setup = RunSetup::open(&request)?;
    let mut ended = play(&mut setup, request, &web, prompt).await;
    if ended.is_ok() {
        ended = judge(&mut setup, domain, &web, &mut interrupt).await;
    }
    let counters = web.counters();
    setup.record.network_calls = counters.network_calls;
    setup.record.cache_hits = counters.cache_hits;
    if let Err(error) = &ended {
        setup.record.stop_detail = Some(error.to_string());
    }
    let kept = setup.folder.write_record(&setup.record);
    ended?;
    kept?;
    listener.emit(Event::RunEnded(setup.key, Box::new(setup.record.clone())));
    Ok(setup.record)
}

#[async_trait]
impl ToolServer for PluginClient {
    fn tools(&self) -> &[ToolSpec] {
        self.tools()
    }

    async fn call(&self, tool: &str, arguments: Bytes) -> CallOutcome {
        self.call(tool, arguments).await
    }

    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        self.save(name, content).await
    }
}

/// The conversation, with a plugin of its own that is gone when it ends.
async fn play(setup: &mut RunSetup, request: RunRequest<'_>, web: &WebClient, prompt: &str) -> Result<(), RunError> {
    if let Some(sandbox) = request.sandbox.as_ref().filter(|_| request.mode == Mode::Code) {
        prepare(sandbox);
    }
    let mut interrupt = request.interrupt.clone();
    let services = Arc::new(services(&request, web, &setup.folder)?);
    let starting = start_plugin(&request, setup.folder.out(), Arc::clone(&services));
    let Some(plugin) = unless_interrupted(&mut interrupt, starting).await else {
        // The record says so from the beginning.
        return Ok(());
    };
    let plugin = Arc::new(plugin?);
    let server: Arc<dyn ToolServer> = plugin.clone();
    let talk = setup.session(request, server)?.talk(prompt).await;
    setup.folder.save_log(&plugin.log())?;
    if let Some(plugin) = Arc::into_inner(plugin) {
        plugin.stop().await;
    }
    setup.record.faults.extend(services.faults());
    talk
}

/// What serves the run's plugin: what its tools fetch goes through `web`, what they save into the run's folder.
fn services(request: &RunRequest<'_>, web: &WebClient, folder: &RunFolder) -> Result<RunServices, RunError> {
    let pages = Pages::load(&request.domain.folder.join("templates"))?;
    let services = RunServices::new(web.clone(), OutFolder::new(folder.out()), pages);
    Ok(services.with_expressions(request.domain.tool_expressions()))
}

async fn start_plugin(
    request: &RunRequest<'_>,
    out: PathBuf,
    services: Arc<RunServices>,
) -> Result<PluginClient, RunError> {
    let tools = request.domain.manifest.declared();
    let settings = ClientSettings { tool_seconds: request.limits.tool_seconds, out, tools, program: None };
    Ok(PluginClient::start(request.library, services, settings).await?)
}

/// Judges what the run left, unless it ended by a fault that says nothing about the model.
async fn judge(
    setup: &mut RunSetup,
    domain: &Domain,
    web: &WebClient,
    interrupt: &mut watch::Receiver<bool>,
) -> Result<(), RunError> {
    if matches!(setup.record.stop, Stop::ModelError | Stop::Interrupted) {
        return Ok(());
    }
    // A fault that tools are to meet must not become the verifier's own.
    let (out, web) = (setup.folder.out(), web.uninjected());
    let judging = verify::judge(domain, &out, Fetch::Web(&web));
    let Some(judgement) = unless_interrupted(interrupt, judging).await.map(|it| it.excused(&setup.record.faults))
    else {
        setup.record.stop = Stop::Interrupted;
        setup.record.stop_detail = Some("interrupted while it was judged".to_owned());
        return Ok(());
    };
    setup.folder.write_verdict(&judgement.verdict, &judgement.evidence)?;
    setup.record.verify = Some(judgement.verdict);
    Ok(())
}
