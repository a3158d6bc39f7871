//! What every command finds on this machine: the workspace, the results folder, and the parts of a
//! domain brought to work together.

use std::env::VarError;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::artifacts::{OutFolder, Pages};
use crate::cli::options::SourceOptions;
use crate::domain::manifest::Limits;
use crate::domain::{Domain, Workspace, authority};
use crate::env;
use crate::error::Failure;
use crate::events::{Event, Listener, RunKey};
use crate::exit::Exit;
use crate::files::{self, OwnFolder};
use crate::plugin::{ClientSettings, PluginClient, PluginError, RunServices, library_for};
use crate::printer;
use crate::report::console;
use crate::results::format::CallRecord;
use crate::results::order::name_of_command;
use crate::results::store::StoreError;
use crate::runner::{Caller, Ledger, Toolbox, script_limits};
use crate::sandbox::{Sandbox, SandboxError, Script, ScriptOutcome};
use crate::web::{Counters, Route, SetupError, Source, WebClient, WebError, WebSettings};

/// Folder of a domain's results where commands without a run put their files.
const BY_HAND: &str = "by-hand";

/// Folder of the results in which each command under way has what goes with it.
const COMMANDS: &str = ".commands";

/// Bytes that are written to see whether a folder can be: more than a disk has that is as good as full.
const TRIED_BYTES: usize = 16 * 1024;

/// Letters of that file's name: its path is longer than those of the files the workbench makes further down.
const TRIED_LETTERS: usize = 120;

/// Stands in `source` of `run.json` before each injected fault.
const INJECTED: &str = ", inject ";

/// The workspace and where its results go.
pub(super) struct Context {
    pub(super) workspace: Workspace,
    pub(super) results: PathBuf,
    /// Raised when the user asks the command to end.
    pub(super) interrupt: watch::Receiver<bool>,
}

/// Where a command's data comes from.
pub(super) struct Data {
    pub(super) web: WebClient,
    /// As `source` of `run.json`; injected faults are part of it, since they change what is measured.
    pub(super) label: String,
    /// The empty cache of `--fresh`, gone with the command.
    _fresh: Option<OwnFolder>,
}

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
    /// Looks for the workspace from the current folder upwards.
    pub(super) fn open(results: Option<PathBuf>, interrupt: watch::Receiver<bool>) -> Result<Self, Failure> {
        let here = std::env::current_dir().map_err(Failure::usage)?;
        let workspace = Workspace::discover(&here);
        let results = results.unwrap_or_else(|| workspace.results());
        Ok(Self { workspace, results, interrupt })
    }

    /// Names this command in the records of its runs.
    pub(super) fn name_of_command(&self) -> String {
        name_of_command(&self.results, Timestamp::now())
    }

    /// Says, while it is kept, that the runs of the command of this name are being made.
    pub(super) fn hold(&self, command: &str) -> Result<OwnFolder, Failure> {
        let folder = self.results.join(COMMANDS);
        let held = OwnFolder::take(&folder, command)
            .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", folder.display())))?;
        held.ok_or_else(|| {
            Failure::usage(format!("the comparison {command} is still under way"))
                .hint(format!("wait for its end; if it has none, remove {}", folder.join(command).display()))
        })
    }

    /// Makes the results folder where there is none, and the one of a domain in it, and tries to write into them. The
    /// error is a text for people.
    pub(super) fn try_results(&self, domain: Option<&str>) -> Result<(), String> {
        let of_domain = domain.map(|domain| self.results.join(domain));
        for folder in [Some(self.results.clone()), of_domain].into_iter().flatten() {
            try_folder(&folder).map_err(|error| {
                format!("{} cannot be written: {error}; choose another with `--results`", folder.display())
            })?;
        }
        Ok(())
    }

    /// Finds and checks a domain.
    pub(super) fn domain(&self, name: &str) -> Result<Domain, Failure> {
        Domain::find(name, &self.workspace).map_err(Failure::usage)
    }

    /// The library of the domain's plugin, built first when it must be.
    pub(super) async fn library(&self, domain: &Domain) -> Result<PathBuf, Failure> {
        let step = Mutex::new(None);
        let progress = |message: &str| {
            *step.lock().unwrap_or_else(PoisonError::into_inner) = Some(console::step(message));
        };
        library_for(domain, &progress).await.map_err(plugin)
    }

    /// The web client of the domain, on the one source of data the options name.
    pub(super) fn data(&self, domain: &Domain, options: &SourceOptions) -> Result<Data, Failure> {
        let mut routes = options.routes.clone();
        let flagged = |route: &Route| options.routes.iter().any(|given| given.host == route.host);
        routes.extend(routes_of_environment(domain)?.into_iter().filter(|route| !flagged(route)));
        let source = match (routes.is_empty(), options.live) {
            (true, false) => Source::Cassette,
            (true, true) => Source::Live,
            (false, _) => Source::Routes(routes),
        };
        let fresh = if options.fresh { Some(self.fresh_cache(domain)?) } else { None };
        let cache = match &fresh {
            Some(folder) => folder.path().to_owned(),
            None => self.results.join(".cache").join(domain.name()),
        };
        let settings = WebSettings {
            api: domain.manifest.api.clone(),
            cassette: domain.cassette.clone(),
            source,
            offline: options.offline,
            cache,
            injections: options.injections.clone(),
        };
        let web = WebClient::open(settings).map_err(|error| match error {
            SetupError::Cassette(_) => Failure::usage(error).hint(format!(
                "mend it, or record it again: remove the folder and run `workbench record {}`",
                domain.name()
            )),
            _ => Failure::usage(error),
        })?;
        // The client knows what the data really come from: without a cassette it is the network.
        let mut label = web.source().to_string();
        for injection in &options.injections {
            label.push_str(&format!("{INJECTED}{injection}"));
        }
        Ok(Data { web, label, _fresh: fresh })
    }

    fn fresh_cache(&self, domain: &Domain) -> Result<OwnFolder, Failure> {
        let folder = self.results.join(COMMANDS);
        let name = format!("fresh-{}-{}", Timestamp::now().as_nanosecond(), domain.name());
        let taken = OwnFolder::take(&folder, &name).and_then(|folder| {
            folder.ok_or_else(|| std::io::Error::other(format!("{name} belongs to another process")))
        });
        taken.map_err(|error| Failure::usage(format!("no empty cache can be made in {}: {error}", folder.display())))
    }

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
        let pages = Pages::load(&domain.folder.join("templates")).map_err(Failure::usage)?;
        let services = RunServices::new(data.web.clone(), OutFolder::new(&out), pages);
        let settings = ClientSettings { tool_seconds: limits.tool_seconds, out: out.clone(), program: None };
        let client = PluginClient::start(&library, Arc::new(services), settings).await.map_err(plugin)?;
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

impl ToolSession {
    /// Runs one script over the tools.
    pub(super) async fn script(&self, source: &str) -> Result<ScriptOutcome, Failure> {
        let script = Script {
            source,
            tools: self.toolbox.tools(),
            domain: &self.domain,
            announce_waiting: false,
            limits: script_limits(&self.limits),
        };
        let bridge = self.toolbox.bridge(Caller { turn: 0, script: Some(1) });
        sandbox()?.run(&script, &bridge).await.map_err(sandbox_failure)
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

fn try_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let file = tempfile::Builder::new().prefix(".trying-").rand_bytes(TRIED_LETTERS).tempfile_in(folder)?;
    let (mut file, path) = file.into_parts();
    // Without its name it is gone with this process, however that ends.
    path.close()?;
    file.write_all(&[0; TRIED_BYTES])
}

/// The routes of the environment that are for this domain's hosts: the variable is set once for many domains.
fn routes_of_environment(domain: &Domain) -> Result<Vec<Route>, Failure> {
    let text = match std::env::var(env::ROUTES) {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(Vec::new()),
        Err(VarError::NotUnicode(_)) => {
            return Err(Failure::usage(format!("the environment variable `{}` is not UTF-8", env::ROUTES)));
        }
    };
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let routes: Vec<Route> = words.map(str::parse).collect::<Result<_, _>>().map_err(|error| {
        Failure::usage(error).hint(format!("it stands in the environment variable `{}`", env::ROUTES))
    })?;
    let hosts: Vec<String> = domain.manifest.api.hosts.iter().filter_map(|host| authority::parse(host)).collect();
    Ok(routes.into_iter().filter(|route| hosts.contains(&route.host)).collect())
}

/// The sandbox scripts run in.
#[cfg(feature = "embedded")]
pub(super) fn sandbox() -> Result<Arc<dyn Sandbox>, Failure> {
    use crate::sandbox::embedded::{Embedded, EmbeddedSettings};
    Ok(Arc::new(Embedded::new(EmbeddedSettings::default())))
}

/// The sandbox scripts run in.
#[cfg(not(feature = "embedded"))]
pub(super) fn sandbox() -> Result<Arc<dyn Sandbox>, Failure> {
    Err(Failure::new(Exit::Sandbox, "this workbench was built without the embedded sandbox")
        .hint("build it with the feature `embedded`, which is on by default"))
}

/// A plugin's failure as that of a command.
pub(super) fn plugin(error: PluginError) -> Failure {
    Failure::new(Exit::Plugin, error)
}

/// A sandbox's failure as that of a command.
pub(super) fn sandbox_failure(error: SandboxError) -> Failure {
    Failure::new(Exit::Sandbox, error)
}

/// The options that have the source of a run's record as their own, without the faults that were injected.
pub(super) fn source_of_run(source: &str) -> Result<SourceOptions, Failure> {
    let source = source.split(INJECTED).next().unwrap_or_default();
    let mut options = SourceOptions::default();
    match source {
        "cassette" => {}
        "live" => options.live = true,
        routes => {
            options.routes = routes.split(", ").map(str::parse).collect::<Result<_, _>>().map_err(Failure::usage)?;
        }
    }
    Ok(options)
}

/// What went wrong with results as the failure of a command: what a user named wrongly, or a file system that
/// refuses what it granted before.
pub(super) fn store(error: StoreError) -> Failure {
    match error {
        StoreError::Io { action: "read", .. } => Failure::usage(error),
        // A path that is too long was named by the user.
        StoreError::Io { ref source, .. } if source.kind() == std::io::ErrorKind::InvalidFilename => {
            Failure::usage(error).hint("choose another results folder with `--results`")
        }
        StoreError::Io { .. } => Failure::new(Exit::Bug, error).hint(
            "look for a full disk, rights that changed, or a folder that was removed; `compare --resume` makes the runs \
             that are missing",
        ),
        _ => Failure::usage(error),
    }
}

/// A failed request as the failure of a command.
pub(super) fn network(error: WebError) -> Failure {
    match error {
        WebError::NotAllowed { .. } => Failure::usage(error),
        _ => Failure::new(Exit::Network, error),
    }
}
