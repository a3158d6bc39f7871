//! What every command finds on this machine: the workspace, the results folder, a domain with its plugin and its data.

use std::env::VarError;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::watch;

use crate::cli::options::SourceOptions;
use crate::domain::{Domain, Workspace, authority};
use crate::env;
use crate::error::Failure;
use crate::files::OwnFolder;
use crate::plugin::library_for;
use crate::printer::line;
use crate::report::console;
use crate::results::order::name_of_command;
use crate::web::{Injection, InjectionError, Route, SetupError, Source, WebClient, WebSettings};

use super::failures;
use super::sandboxes::Sandboxes;

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
    /// Where its scripts run.
    pub(super) sandboxes: Arc<Sandboxes>,
}

/// Where a command's data comes from.
pub(super) struct Data {
    pub(super) web: WebClient,
    /// As `source` of `run.json`; injected faults are part of it, since they change what is measured.
    pub(super) label: String,
    /// The empty cache of `--fresh`, gone with the command.
    _fresh: Option<OwnFolder>,
}

impl Context {
    /// Looks for the workspace from the current folder upwards.
    pub(super) fn open(results: Option<PathBuf>, interrupt: watch::Receiver<bool>) -> Result<Self, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::usage(format!("the current folder cannot be found: {error}")).hint("go to one that is there")
        })?;
        let workspace = Workspace::discover(&here);
        let results = results.unwrap_or_else(|| workspace.results());
        Ok(Self { workspace, results, interrupt, sandboxes: Arc::default() })
    }

    /// The same with another place for results.
    pub(super) fn with_results(&self, results: &Path) -> Self {
        Self {
            workspace: self.workspace.clone(),
            results: results.to_owned(),
            interrupt: self.interrupt.clone(),
            sandboxes: Arc::clone(&self.sandboxes),
        }
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
        library_for(domain, &progress).await.map_err(failures::plugin)
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
                domain.reference
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
        self.own_folder(&format!("fresh-{}", domain.name()))
    }

    /// A folder that is gone with the command; `purpose` is a part of its name.
    pub(super) fn own_folder(&self, purpose: &str) -> Result<OwnFolder, Failure> {
        let folder = self.results.join(COMMANDS);
        let name = format!("{purpose}-{}", Timestamp::now().as_nanosecond());
        let taken = OwnFolder::take(&folder, &name).and_then(|folder| {
            folder.ok_or_else(|| std::io::Error::other(format!("{name} belongs to another process")))
        });
        taken.map_err(|error| Failure::usage(format!("no empty folder can be made in {}: {error}", folder.display())))
    }
}

fn try_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    // Made here, so that an error is the system's own and does not hold the long name.
    let make = |path: &Path| File::options().write(true).create_new(true).open(path);
    let file = tempfile::Builder::new().prefix(".trying-").rand_bytes(TRIED_LETTERS).make_in(folder, make)?;
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

/// The faults that were injected into a run, as the source in its record says them.
pub(super) fn injections_of_run(source: &str) -> Result<Vec<Injection>, Failure> {
    let rules = source.split(INJECTED).skip(1);
    rules
        .map(|rule| {
            rule.parse().map_err(|error: InjectionError| {
                Failure::usage(format!("the faults that were injected into the run cannot be told apart: {error}"))
                    .hint("say them again, each with `--inject RULE`")
            })
        })
        .collect()
}

/// Refuses to go to the network in the place of a cassette that is not there: its answers would not be the run's.
pub(super) fn require_cassette(domain: &Domain, options: &SourceOptions) -> Result<(), Failure> {
    if options.live || !options.routes.is_empty() || domain.cassette.is_some() {
        return Ok(());
    }
    let message = format!("the run got its data from a cassette, and the workspace has none of {}", domain.name());
    Err(Failure::usage(message).hint("`--live` asks the API itself, `--route HOST=URL` another server"))
}

/// Where the data of a run comes from that is judged or played again: where the user says, else where the run got it,
/// without the faults that were injected. The run may have been handed in. So of routes, which lead anywhere, only those
/// count that the user gives: others would tell our headers, and answer what suits the run.
pub(super) fn source_of_run(given: &SourceOptions, run: &str, recorded: &str) -> Result<SourceOptions, Failure> {
    let mut source = given.clone();
    if given.live || !given.routes.is_empty() {
        return Ok(source);
    }
    match recorded.split(INJECTED).next().unwrap_or_default() {
        "cassette" => {}
        "live" => source.live = true,
        elsewhere => {
            let (run, elsewhere) = (line(run), line(elsewhere));
            let message = format!("{run} says that its data came from {elsewhere}, and may have been handed in");
            return Err(Failure::usage(message)
                .hint("`--route HOST=URL` sends requests there, if you trust it; `--live` asks the API itself"));
        }
    }
    Ok(source)
}
