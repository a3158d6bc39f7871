//! The plugin `fixtures/faulty.c`, compiled by the system's C compiler, and a host for it.
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
use workbench::plugin::{CallOutcome, ClientSettings, HostServices, PluginClient, PluginError};

/// A compiled plugin, in a folder that goes with it.
pub(crate) struct Faulty {
    folder: TempDir,
}

impl Faulty {
    /// Compiles the plugin, with the C compiler that the README asks for.
    pub(crate) fn compiled(defines: &[&str]) -> Self {
        let faulty = Self { folder: tempfile::tempdir().unwrap() };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/faulty.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O0", "-w", "-o"]).arg(faulty.library()).arg(source).args(defines);
        let output = compiler.output().unwrap_or_else(|error| panic!("the C compiler `cc` does not run: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        faulty
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.folder.path().join("libfaulty.so")
    }

    /// A client whose calls may take `tool_seconds`.
    pub(crate) async fn client(&self, tool_seconds: u64, host: &Arc<Host>) -> PluginClient {
        start(&self.library(), tool_seconds, host).await.unwrap()
    }
}

pub(crate) async fn start(library: &Path, tool_seconds: u64, host: &Arc<Host>) -> Result<PluginClient, PluginError> {
    let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_workbench")));
    PluginClient::start(library, Arc::clone(host) as _, ClientSettings { tool_seconds, program }).await
}

pub(crate) async fn call(client: &PluginClient, tool: &str) -> CallOutcome {
    client.call(tool, Bytes::from_static(b"{}")).await
}

/// The number a tool answers.
pub(crate) async fn number(client: &PluginClient, tool: &str) -> i64 {
    match call(client, tool).await {
        CallOutcome::Answer(body) => serde_json::from_slice(&body).unwrap(),
        other => panic!("{tool}: {other:?}"),
    }
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
        while self.asked.load(Ordering::SeqCst) < times {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl HostServices for Host {
    async fn request(&self, _call: u64, request: HostRequest, _body: Bytes) -> (HostReply, Bytes) {
        assert_eq!(request, HostRequest::GetJson { path: "gate".to_owned(), query: vec![] });
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
