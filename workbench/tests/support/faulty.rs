//! Plugins that go wrong: `fixtures/faulty.c`, compiled by the system's C compiler, and `plugins/faulty`; and a host
//! for them.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::{HostReply, HostRequest};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use workbench::domain::Domain;
use workbench::plugin::{CallOutcome, ClientSettings, HostServices, PluginClient, PluginError, library_for};

use crate::patience::until;

/// A compiled plugin, in a folder that goes with it, with an `out/` beside it.
pub(crate) struct Faulty {
    folder: TempDir,
}

impl Faulty {
    /// Compiles the plugin, with the C compiler that the README asks for.
    pub(crate) fn compiled(defines: &[&str]) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faulty.c");
        Self::of_source(&source, &[&["-O0", "-w"], defines].concat())
    }

    /// Compiles a plugin from a file of C.
    pub(crate) fn of_source(source: &Path, options: &[&str]) -> Self {
        let faulty = Self::empty();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(faulty.library()).arg(source).args(options);
        let output = compiler.output().unwrap_or_else(|error| panic!("the C compiler `cc` does not run: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        faulty
    }

    /// The plugin in Rust, built by the host as every plugin of the workspace is.
    pub(crate) async fn built() -> Self {
        let faulty = Self::empty();
        let domain = faulty.folder().join("trial");
        std::fs::create_dir(&domain).unwrap();
        let manifest = "[domain]\nname = \"trial\"\ntitle = \"Trial\"\nplugin = \"faulty\"\n";
        std::fs::write(domain.join("domain.toml"), manifest).unwrap();
        let built = library_for(&Domain::load(&domain).unwrap(), &|_| {}).await.unwrap();
        std::fs::copy(built, faulty.library()).unwrap();
        std::fs::remove_dir_all(domain).unwrap();
        faulty
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("out")).unwrap();
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.folder.path().join("libfaulty.so")
    }

    /// A client whose calls may take `tool_seconds`.
    pub(crate) async fn client(&self, tool_seconds: u64, host: &Arc<impl HostServices + 'static>) -> PluginClient {
        start(&self.library(), tool_seconds, host).await.unwrap()
    }
}

pub(crate) async fn start(
    library: &Path,
    tool_seconds: u64,
    host: &Arc<impl HostServices + 'static>,
) -> Result<PluginClient, PluginError> {
    let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_workbench")));
    let out = library.with_file_name("out");
    PluginClient::start(library, Arc::clone(host) as _, ClientSettings { tool_seconds, out, program, tools: None })
        .await
}

pub(crate) async fn call(client: &PluginClient, tool: &str) -> CallOutcome {
    call_with(client, tool, "{}").await
}

/// A call whose arguments are this text; tools in C take any.
pub(crate) async fn call_with(client: &PluginClient, tool: &str, arguments: &str) -> CallOutcome {
    client.call(tool, Bytes::copy_from_slice(arguments.as_bytes())).await
}

/// The number a tool answers.
pub(crate) async fn number(client: &PluginClient, tool: &str) -> i64 {
    number_of(client, tool, "{}").await
}

/// The number a tool answers to these arguments.
pub(crate) async fn number_of(client: &PluginClient, tool: &str, arguments: &str) -> i64 {
    match call_with(client, tool, arguments).await {
        CallOutcome::Answer(body) => serde_json::from_slice(&body).unwrap(),
        other => panic!("{tool} {arguments}: {other:?}"),
    }
}

/// Waits until the log has this text. The two streams of a worker are read by the way: what it printed may come a
/// moment after its answer.
pub(crate) async fn logged(client: &PluginClient, text: &str) {
    until(&format!("the log has {text:?}"), || client.log().contains(text)).await;
}

/// Answers the upcalls of the tool `ask` with a number: how many of them were answered at once.
pub(crate) struct Host {
    /// An upcall takes one, and waits for it.
    pub(crate) gate: Semaphore,
    /// Upcalls that came in, those of calls that died included.
    pub(crate) asked: AtomicUsize,
    pub(crate) ended: AtomicUsize,
    under_way: AtomicUsize,
}

impl Host {
    /// A host that lets this many upcalls through.
    pub(crate) fn letting_through(upcalls: usize) -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(upcalls),
            asked: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
        })
    }

    /// Waits until this many upcalls have come in.
    pub(crate) async fn was_asked(&self, times: usize) {
        until(&format!("{times} upcalls"), || self.asked.load(Ordering::SeqCst) >= times).await;
    }
}

#[async_trait]
impl HostServices for Host {
    async fn request(&self, _call: u64, request: HostRequest, _body: Bytes) -> (HostReply, Bytes) {
        assert_eq!(request, HostRequest::GetJson { path: "gate".to_owned(), query: vec![], document: None });
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let together = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        tokio::task::yield_now().await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        (HostReply::Json, Bytes::from(together.to_string()))
    }

    fn call_ended(&self, _call: u64) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}
