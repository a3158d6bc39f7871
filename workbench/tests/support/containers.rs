//! Containers for tests: the sandbox `docker` where an engine and the image are here, and what is left in the engine.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bollard::query_parameters::{ListContainersOptions, ListVolumesOptions};
use workbench::sandbox::docker::engine::Engine;
use workbench::sandbox::docker::{Docker, DockerSettings, availability, sweep};

/// What a container may take in tests.
const MEMORY: u64 = 256 * 1024 * 1024;

/// The sandbox `docker`, and the engine it is on.
pub(crate) struct Containers {
    pub(crate) sandbox: Arc<Docker>,
    pub(crate) engine: Engine,
    /// What its containers are labelled with: each test has its own.
    purpose: String,
}

impl Containers {
    /// Opens it; nothing, and a line that says so, on a machine without engine or image. CI may not be one.
    pub(crate) async fn open(settings: DockerSettings) -> Option<Self> {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        let engine = engine().await?;
        let purpose = format!("test-{}-{}", std::process::id(), OPENED.fetch_add(1, Ordering::Relaxed));
        let sandbox = Arc::new(Docker::open(settings, &purpose, MEMORY).await.unwrap());
        Some(Self { sandbox, engine, purpose })
    }

    /// Ids of its containers.
    pub(crate) async fn ids(&self) -> Vec<String> {
        containers(&self.engine, &format!("{}={}", sweep::LABEL_RUN, self.purpose)).await
    }

    /// Everything is removed.
    pub(crate) async fn close(self) {
        use workbench::sandbox::Sandbox as _;
        self.sandbox.close().await;
        let label = format!("{}={}", sweep::LABEL_RUN, self.purpose);
        assert_eq!(left(&self.engine, &label).await, Vec::<String>::new());
    }
}

/// The engine, when it has the image; see [`Containers::open`].
pub(crate) async fn engine() -> Option<Engine> {
    match availability::look().await {
        Ok(available) => Some(available.engine),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "CI must run this: {error}");
            // Not by a macro, whose words the harness keeps to itself.
            _ = writeln!(std::io::stderr(), "SKIPPED: {error}; {}", error.hint());
            None
        }
    }
}

/// Ids of the containers with a label, ended ones included.
pub(crate) async fn containers(engine: &Engine, label: &str) -> Vec<String> {
    let filters = Some(HashMap::from([("label".to_owned(), vec![label.to_owned()])]));
    let options = ListContainersOptions { all: true, filters, ..ListContainersOptions::default() };
    let found = engine.docker().list_containers(Some(options)).await.unwrap();
    found.into_iter().filter_map(|container| container.id).collect()
}

/// Containers and volumes with a label.
pub(crate) async fn left(engine: &Engine, label: &str) -> Vec<String> {
    let filters = Some(HashMap::from([("label".to_owned(), vec![label.to_owned()])]));
    let volumes = engine.docker().list_volumes(Some(ListVolumesOptions { filters })).await.unwrap();
    let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|volume| volume.name);
    containers(engine, label).await.into_iter().chain(volumes).collect()
}
