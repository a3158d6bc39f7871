//! The sandbox `docker`: CPython in a container without network, privileges or secrets, spoken to through the engine's API.
//!
//! The host keeps time, memory and output, and answers tool calls, many at once, over the container's attached streams.
//! So an engine on another machine does as well: nothing of this machine's files is mounted.

mod container;
mod inspection;
mod left_files;
mod network;
mod script_run;
mod supervisor;

pub mod availability;
pub mod engine;
pub mod image;
pub mod places;
pub mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use self::availability::Available;
use self::container::Settings;
use self::engine::Engine;
pub use self::network::Network;
use self::script_run::Worker;
use super::session::Names;
use super::{Bridge, Inspection, Sandbox, SandboxError, Script, ScriptEnd, ScriptOutcome, ToolForm};
use crate::results::format::setting;

/// What `run.json` and messages call this sandbox.
pub const NAME: &str = "docker";

/// How long containers may take to be removed at the end of a command; what is left then, the next one sweeps.
const REMOVAL_LIMIT: Duration = Duration::from_secs(30);

/// What a user chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DockerSettings {
    /// What containers reach.
    pub network: Network,
    /// One container for all scripts of a run, whose names later scripts find again; else a fresh one for each.
    pub reuse: bool,
    /// A runtime of the engine, such as `runsc`.
    pub runtime: Option<String>,
}

/// Runs scripts in containers.
pub struct Docker {
    shared: Arc<Shared>,
    /// Whether one container serves all scripts, whose names later ones find again.
    keeps: bool,
    /// That container, once there is one.
    kept: Mutex<Option<Worker>>,
    /// Of a session.
    names: Option<Names>,
}

/// What all runs of a command share.
struct Shared {
    engine: Engine,
    choice: DockerSettings,
    /// The image's name by digest, when the engine gives it one.
    digest: Option<String>,
    container: Settings,
    /// At most one container that waits for a script.
    spare: Mutex<Option<Worker>>,
    removals: TaskTracker,
}

impl Docker {
    /// Finds the engine and the image, and removes what dead processes left in the engine. `run` is what containers are
    /// labelled with, `memory` the bytes that scripts may take.
    ///
    /// # Errors
    /// Without engine or image, or when the engine does not offer the runtime.
    pub async fn open(choice: DockerSettings, run: &str, memory: u64) -> Result<Self, SandboxError> {
        let available = availability::look().await?;
        if let Some(runtime) = &choice.runtime {
            available.offers(runtime).await?;
        }
        let Available { engine, image } = available;
        // What cannot be swept today is swept tomorrow.
        _ = sweep::sweep(&engine).await;
        let container = Settings {
            image: image.id,
            labels: sweep::labels(run),
            memory: container::memory(memory),
            network: choice.network.mode(),
            runtime: choice.runtime.clone(),
        };
        let (digest, spare) = (image.digest, Mutex::new(None));
        let keeps = choice.reuse;
        let shared = Shared { engine, choice, digest, container, spare, removals: TaskTracker::new() };
        Ok(Self { shared: Arc::new(shared), keeps, kept: Mutex::new(None), names: None })
    }

    /// The container for a script of so much memory: the run's own, the one that waits, or a new one. Tells whether no
    /// script ran in it.
    async fn worker(&self, memory: u64) -> Result<(Worker, bool), SandboxError> {
        let kept = self.kept.lock().await.take();
        let is_new = kept.is_none();
        let waiting = match kept {
            Some(kept) => Some(kept),
            None => self.shared.spare.lock().await.take(),
        };
        if let Some(worker) = waiting
            && worker.memory() == memory
            && let Some(worker) = worker.if_alive().await
        {
            return Ok((worker, is_new));
        }
        Ok((self.shared.boot(memory).await?, true))
    }
}

impl Shared {
    async fn boot(&self, memory: u64) -> Result<Worker, SandboxError> {
        let settings = Settings { memory, ..self.container.clone() };
        Worker::boot(self.engine.docker(), &settings, &self.removals).await
    }
}

#[async_trait]
impl Sandbox for Docker {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let DockerSettings { network, reuse, runtime } = &self.shared.choice;
        let mut settings = BTreeMap::from([
            (setting::NETWORK.to_owned(), network.name().to_owned()),
            (setting::IMAGE.to_owned(), self.shared.container.image.clone()),
        ]);
        if let Some(digest) = &self.shared.digest {
            settings.insert(setting::DIGEST.to_owned(), digest.clone());
        }
        if *reuse {
            settings.insert(setting::CONTAINER.to_owned(), "one a run".to_owned());
        }
        if let Some(runtime) = runtime {
            settings.insert(setting::RUNTIME.to_owned(), runtime.clone());
        }
        settings
    }

    async fn run(&self, script: &Script<'_>, bridge: &dyn Bridge) -> Result<ScriptOutcome, SandboxError> {
        if script.announce_waiting && script.form != ToolForm::Coroutines {
            // Of many threads nobody can tell whether all of them wait.
            return Err(SandboxError::Start {
                sandbox: NAME,
                reason: "a script's waits are not announced there".into(),
            });
        }
        let (mut worker, is_new) = self.worker(container::memory(script.limits.memory)).await?;
        let missing = self.names.as_ref().is_some_and(|names| names.begin(is_new));
        let mut outcome = worker.run(script, self.keeps, bridge).await?;
        let lives_on = self.keeps && matches!(outcome.end, ScriptEnd::Exit(_)) && worker.is_reusable();
        if let Some(names) = &self.names {
            names.end(missing, lives_on, &mut outcome);
        }
        if lives_on {
            *self.kept.lock().await = Some(worker);
        }
        Ok(outcome)
    }

    /// Starts the container of the next script. A failure is kept for that script to meet again.
    async fn prepare(&self) {
        if self.kept.lock().await.is_some() {
            return;
        }
        let mut spare = self.shared.spare.lock().await;
        let waiting = match spare.take() {
            Some(worker) => worker.if_alive().await,
            None => None,
        };
        *spare = match waiting {
            Some(worker) => Some(worker),
            None => self.shared.boot(self.shared.container.memory).await.ok(),
        };
    }

    async fn inspect(&self) -> Result<Inspection, SandboxError> {
        let (docker, settings) = (self.shared.engine.docker(), &self.shared.container);
        inspection::inspect(docker, settings)
            .await
            .map_err(|error| SandboxError::Start { sandbox: NAME, reason: error.to_string().into() })
    }

    fn of_run(self: Arc<Self>) -> Arc<dyn Sandbox> {
        let names = self.names.as_ref().map(|_| Names::default());
        Arc::new(Self { shared: Arc::clone(&self.shared), keeps: self.keeps, kept: Mutex::new(None), names })
    }

    fn session(self: Arc<Self>) -> Arc<dyn Sandbox> {
        let names = Some(Names::default());
        Arc::new(Self { shared: Arc::clone(&self.shared), keeps: true, kept: Mutex::new(None), names })
    }

    async fn close(&self) {
        drop(self.kept.lock().await.take());
        drop(self.shared.spare.lock().await.take());
        self.shared.removals.close();
        _ = tokio::time::timeout(REMOVAL_LIMIT, self.shared.removals.wait()).await;
        self.shared.removals.reopen();
    }
}
