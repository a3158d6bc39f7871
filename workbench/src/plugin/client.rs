//! The host's side of a plugin: calls its tools, and starts its worker again when it dies.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use plugin_api::wire::{
    COMPILER, EVALUATE, Hello, HostReply, HostRequest, Reply, Request, ToolSpec, WIRE_VERSION, join,
};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::CallOutcome;
use super::build::rebuild_command;
use super::error::PluginError;
use super::link::{Link, StartFailure};
use super::messages::{CALLS_IN_FLIGHT, LoadFailure, split};
use super::pending::{Answered, Unanswered};
use super::platform;
use super::services::HostServices;
use super::tail::Tail;
use crate::death::Death;
use crate::domain::tool_names::{check_argument, check_tool};

/// Bytes of log text that are kept.
const LOG_BYTES: usize = 64 * 1024;

/// The extension of a file whose name has none.
const NO_EXTENSION: &str = "bin";

/// How long a plugin may take to say what it is.
const GREETING_LIMIT: Duration = Duration::from_secs(30);

/// How a plugin is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientSettings {
    /// Seconds one call may take; the clock stands while the call waits for the host.
    pub tool_seconds: u64,
    /// The run's `out/`, the only folder the plugin itself may write to. Where it is not there, there is none.
    pub out: PathBuf,
    /// The tools that the domain's manifest declares, told to every worker; nothing when it declares none.
    pub tools: Option<Value>,
    /// The workbench binary that runs as worker; `None` is the running program.
    pub program: Option<PathBuf>,
}

/// A plugin that runs in a worker of its own. Calls may be made through `&self` from many tasks;
/// eight run at once, others wait. Dropping it kills the worker.
pub struct PluginClient {
    core: Arc<Core>,
    tools: Vec<ToolSpec>,
}

impl PluginClient {
    /// Starts a worker, has it load `library`, and asks the plugin what it is. Takes a few
    /// milliseconds. `services` answers what the tools ask of their host.
    pub async fn start(
        library: &Path,
        services: Arc<dyn HostServices>,
        settings: ClientSettings,
    ) -> Result<Self, PluginError> {
        let core = Arc::new(Core {
            library: library.to_owned(),
            settings,
            services,
            log: Arc::new(Tail::new(LOG_BYTES)),
            slots: Semaphore::new(CALLS_IN_FLIGHT),
            starting: tokio::sync::Mutex::default(),
            worker: Mutex::new(Worker::None),
            ids: AtomicU64::new(1),
        });
        let tools = match core.introduce().await {
            // As a call whose worker died, it gets a second try.
            Err(PluginError::Start { reason: Death::Killed, .. }) => core.introduce().await,
            tools => tools,
        };
        Ok(Self { core, tools: tools? })
    }

    /// The plugin's tools, in its order.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Runs one tool. `arguments` is a JSON object. When the worker dies, calls that were under way
    /// are run again, one at a time, and the one that dies again is [`CallOutcome::Crashed`]; a call
    /// that takes too long is not run again. A call goes on to its end when this future is dropped.
    pub async fn call(&self, tool: &str, arguments: Bytes) -> CallOutcome {
        let message = Bytes::from(join(&Request::Call { tool: tool.to_owned() }, &arguments));
        let core = Arc::clone(&self.core);
        let call = tokio::spawn(async move {
            let reply = core.call(message).await;
            core.outcome(reply)
        });
        call.await.unwrap_or_else(|error| CallOutcome::Crashed(format!("the host failed: {error}")))
    }

    /// Saves a file as its tools save theirs: a disk that is full is noted as a fault of the run. An error says why not.
    pub async fn save(&self, name: &str, content: Bytes) -> Result<(), String> {
        let extension = name.rsplit_once('.').map_or(NO_EXTENSION, |(_, extension)| extension).to_owned();
        let request = HostRequest::Save { name: name.to_owned(), extension, handle: None };
        let id = self.core.ids.fetch_add(1, Ordering::Relaxed);
        match self.core.services.request(id, request, content).await {
            (HostReply::Error(error), _) => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// The end of what the plugin logged and printed so far, those of earlier workers included.
    pub fn log(&self) -> String {
        self.core.log.text()
    }

    /// Kills the worker and waits until it is gone. Calls under way end as crashed.
    pub async fn stop(self) {
        if let Some(link) = self.core.close() {
            link.stop().await;
        }
    }
}

impl Drop for PluginClient {
    fn drop(&mut self) {
        // Calls under way hold the link, so that dropping ours would not be enough.
        if let Some(link) = self.core.close() {
            link.kill();
        }
    }
}

/// What calls share; they outlive the client by a moment when it is dropped under them.
struct Core {
    library: PathBuf,
    settings: ClientSettings,
    services: Arc<dyn HostServices>,
    log: Arc<Tail>,
    slots: Semaphore,
    starting: tokio::sync::Mutex<()>,
    worker: Mutex<Worker>,
    ids: AtomicU64,
}

enum Worker {
    /// Not started yet.
    None,
    /// Started; may have died since.
    Some(Arc<Link>),
    /// The client is gone: nothing is started any more.
    Closed,
}

impl Core {
    async fn introduce(&self) -> Result<Vec<ToolSpec>, PluginError> {
        let link = self.link().await?;
        self.describe(&link).await
    }

    async fn call(&self, message: Bytes) -> Result<Answered, Unanswered> {
        let first = {
            let _slot = self.slots.acquire().await;
            self.attempt(message.clone()).await
        };
        match first {
            Err(Unanswered::Died(_)) => {
                // Whoever holds every slot is alone in the worker: if it dies now, this call did it.
                let _alone = self.slots.acquire_many(CALLS_IN_FLIGHT as u32).await;
                self.attempt(message).await
            }
            end => end,
        }
    }

    async fn attempt(&self, message: Bytes) -> Result<Answered, Unanswered> {
        let link = self.link().await.map_err(|error| Unanswered::Died(error.to_string().into()))?;
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let end = link.call(id, message, Duration::from_secs(self.settings.tool_seconds)).await;
        self.services.call_ended(id);
        end
    }

    fn outcome(&self, reply: Result<Answered, Unanswered>) -> CallOutcome {
        let answered = match reply {
            Ok(answered) => answered,
            Err(Unanswered::TimedOut) => return CallOutcome::TimedOut(self.settings.tool_seconds),
            Err(Unanswered::Died(death)) => return CallOutcome::Crashed(death.to_string()),
            Err(Unanswered::Refused(text)) => return CallOutcome::Crashed(format!("refused the call: {text}")),
        };
        match split(&answered.message) {
            Ok((Reply::Answer, body)) => checked(body),
            // The host has checked it where it came in.
            Ok((Reply::Unchanged { document }, _)) => {
                answered.unchanged(document).map_or_else(CallOutcome::Crashed, CallOutcome::Answer)
            }
            Ok((Reply::Error(error), _)) => CallOutcome::ToolError(error),
            Ok((Reply::Panic { message }, _)) => CallOutcome::Crashed(format!("panic: {message}")),
            Ok((Reply::Hello(_) | Reply::Tools(_), _)) => {
                CallOutcome::Crashed("answered something else than it was asked".to_owned())
            }
            Err(error) => CallOutcome::Crashed(format!("its reply is not understood: {error}")),
        }
    }

    /// The living worker, started anew where there is none.
    async fn link(&self) -> Result<Arc<Link>, PluginError> {
        let _one_at_a_time = self.starting.lock().await;
        match &*self.worker() {
            Worker::Some(link) if !link.is_dead() => return Ok(Arc::clone(link)),
            Worker::Closed => return Err(self.start_error("it was stopped")),
            Worker::Some(_) | Worker::None => {}
        }
        let link = Arc::new(self.start_worker().await?);
        self.greet(&link).await?;
        let mut worker = self.worker();
        if matches!(*worker, Worker::Closed) {
            return Err(self.start_error("it was stopped"));
        }
        *worker = Worker::Some(Arc::clone(&link));
        Ok(link)
    }

    async fn start_worker(&self) -> Result<Link, PluginError> {
        let program = match &self.settings.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(|error| self.start_error(error.to_string()))?,
        };
        let (services, log) = (Arc::clone(&self.services), Arc::clone(&self.log));
        let link = Link::start(&program, &self.library, &self.settings.out, services, log).await;
        link.map_err(|failure| match failure {
            StartFailure::Process(reason) => self.start_error(reason),
            StartFailure::Library(LoadFailure::Unusable { message }) => {
                PluginError::Load { library: self.library.clone(), reason: explained(message, &self.library) }
            }
            StartFailure::Library(LoadFailure::Abi { theirs }) => {
                PluginError::Abi { library: self.library.clone(), theirs, rebuild: rebuild_command(&self.library) }
            }
        })
    }

    /// Checks that the plugin speaks our messages; the first thing it is asked.
    async fn greet(&self, link: &Link) -> Result<(), PluginError> {
        let hello = Hello {
            wire: WIRE_VERSION,
            plugin_api: env!("CARGO_PKG_VERSION").to_owned(),
            name: String::new(),
            features: vec![EVALUATE.to_owned()],
            compiler: COMPILER.to_owned(),
            tools: self.settings.tools.clone(),
        };
        match self.ask(link, &Request::Hello(hello)).await? {
            Reply::Hello(theirs) if theirs.wire == WIRE_VERSION && is_ours(&theirs.compiler) => Ok(()),
            Reply::Hello(theirs) if theirs.wire == WIRE_VERSION => Err(PluginError::Compiler {
                library: self.library.clone(),
                theirs: theirs.compiler,
                rebuild: rebuild_command(&self.library),
            }),
            Reply::Hello(theirs) => Err(PluginError::Wire {
                library: self.library.clone(),
                theirs: theirs.wire,
                plugin_api: theirs.plugin_api,
                rebuild: rebuild_command(&self.library),
            }),
            other => Err(self.unexpected(&other)),
        }
    }

    async fn describe(&self, link: &Link) -> Result<Vec<ToolSpec>, PluginError> {
        match self.ask(link, &Request::Describe).await? {
            Reply::Tools(tools) => self.named(tools),
            other => Err(self.unexpected(&other)),
        }
    }

    /// The tools, if each can be called by its name, and no two are called alike.
    fn named(&self, tools: Vec<ToolSpec>) -> Result<Vec<ToolSpec>, PluginError> {
        let refused =
            |reason: String, help: String| Err(PluginError::Names { library: self.library.clone(), reason, help });
        for (index, tool) in tools.iter().enumerate() {
            let name = &tool.name;
            if let Err(fault) = check_tool(name) {
                return refused(format!("its tool `{name}` {}", fault.reason), fault.help);
            }
            if tools[..index].iter().any(|other| other.name == *name) {
                return refused(format!("it has two tools `{name}`"), "rename one of them".to_owned());
            }
            let arguments = tool.input_schema["properties"].as_object();
            for argument in arguments.into_iter().flat_map(|arguments| arguments.keys()) {
                if let Err(fault) = check_argument(argument) {
                    return refused(
                        format!("the argument `{argument}` of its tool `{name}` {}", fault.reason),
                        fault.help,
                    );
                }
            }
        }
        Ok(tools)
    }

    /// One question about the plugin itself.
    async fn ask(&self, link: &Link, request: &Request) -> Result<Reply, PluginError> {
        let message = Bytes::from(join(request, &[]));
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let reply = link.call(id, message, GREETING_LIMIT).await.map_err(|end| match end {
            Unanswered::Died(death) => self.start_error(death),
            Unanswered::TimedOut => self.start_error(format!("killed after {} s", GREETING_LIMIT.as_secs())),
            Unanswered::Refused(text) => self.start_error(format!("refused {request:?}: {text}")),
        })?;
        split(&reply.message)
            .map(|(reply, _)| reply)
            .map_err(|error| self.start_error(format!("spoke garbage: {error}")))
    }

    fn unexpected(&self, reply: &Reply) -> PluginError {
        match reply {
            Reply::Panic { message } => self.start_error(format!("panic: {message}")),
            Reply::Error(error) => self.start_error(error.to_string()),
            _ => self.start_error("it answered something else than it was asked"),
        }
    }

    fn start_error(&self, reason: impl Into<Death>) -> PluginError {
        PluginError::Start { library: self.library.clone(), reason: reason.into() }
    }

    /// Forgets the worker for good; no other is started.
    fn close(&self) -> Option<Arc<Link>> {
        match std::mem::replace(&mut *self.worker(), Worker::Closed) {
            Worker::Some(link) => Some(link),
            Worker::None | Worker::Closed => None,
        }
    }

    fn worker(&self) -> MutexGuard<'_, Worker> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The loader's words, and what the file is when that is why it was refused. The lock hides libraries in other places from the
/// loader, and it then says that they are not there.
fn explained(message: String, library: &Path) -> String {
    if let Some(misfit) = platform::misfit(library) {
        return format!("{message}; {misfit}");
    }
    if message.contains("cannot open shared object file") && !message.starts_with(&*library.to_string_lossy()) {
        return format!("{message}; a plugin may link libraries of the system and those beside it");
    }
    message
}

/// Whether a plugin comes from the compiler of this program, or from none that says its name.
fn is_ours(compiler: &str) -> bool {
    compiler.is_empty() || COMPILER.is_empty() || compiler == COMPILER
}

/// What a tool answers must be JSON; it is looked at here once, and never again on its way.
fn checked(body: Bytes) -> CallOutcome {
    let problem = match str::from_utf8(&body) {
        Ok(text) => serde_json::from_str::<&RawValue>(text).err().map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        None => CallOutcome::Answer(body),
        Some(problem) => CallOutcome::Crashed(format!("answered something that is not JSON: {problem}")),
    }
}
