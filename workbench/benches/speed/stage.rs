//! What is measured: a plugin in its worker, records in a cassette, and a sandbox, as a run has them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use workbench::artifacts::{OutFolder, Pages};
use workbench::domain::Domain;
use workbench::events::{Listener, RunKey};
use workbench::plugin::{ClientSettings, PluginClient, RunServices, library_for};
use workbench::results::store::RunFolder;
use workbench::runner::{Caller, Ledger, Toolbox};
use workbench::web::{Source, WebClient, WebSettings};

/// The domain whose plugin is called: one of its tools hands a record on unread.
const DOMAIN: &str = "met";
/// That tool.
pub(crate) const TOOL: &str = "get_object";

/// Records by their id, and how long each is.
pub(crate) const SMALL: (u64, usize) = (2, 2 * 1024);
pub(crate) const MIDDLE: (u64, usize) = (8, 8 * 1024);
pub(crate) const LARGE: (u64, usize) = (665, 665 * 1000);

/// The parts of a run.
pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    pub(crate) domain: Domain,
    pub(crate) library: PathBuf,
    pub(crate) web: WebClient,
    pub(crate) toolbox: Toolbox,
    /// Folder of results, gone with the stage.
    pub(crate) results: TempDir,
}

impl Stage {
    /// Builds the plugin when it must be built, writes the records, starts the worker.
    pub(crate) fn open() -> Self {
        let runtime = workbench::commands::runtime().unwrap();
        let results = tempfile::tempdir().unwrap();
        let domain = Domain::load(&workspace().join("domains").join(DOMAIN)).unwrap();
        let library = runtime.block_on(library_for(&domain, &|step| eprintln!("{step}"))).unwrap();
        let web = WebClient::open(WebSettings {
            api: domain.manifest.api.clone(),
            cassette: Some(cassette(results.path(), &domain)),
            source: Source::Cassette,
            offline: true,
            cache: results.path().join("cache"),
            injections: Vec::new(),
        });
        let web = web.unwrap();
        let toolbox = runtime.block_on(toolbox(&library, &web, results.path()));
        Self { runtime, domain, library, web, toolbox, results }
    }

    /// One call as a run makes it, ledger included.
    pub(crate) async fn call(&self, record: u64) -> Bytes {
        self.toolbox.call(Caller::default(), TOOL, arguments(record)).await.unwrap()
    }
}

/// The arguments that ask for a record.
pub(crate) fn arguments(record: u64) -> Bytes {
    json!({ "object_id": record }).to_string().into()
}

/// The built program.
pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_workbench").into()
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

async fn toolbox(library: &Path, web: &WebClient, results: &Path) -> Toolbox {
    let out = results.join("out");
    let services = RunServices::new(web.clone(), OutFolder::new(&out), Pages::load(results).unwrap());
    let settings = ClientSettings { tool_seconds: 60, out, program: Some(program()), ..ClientSettings::default() };
    let plugin = PluginClient::start(library, Arc::new(services), settings).await.unwrap();
    let folder = RunFolder::create(results, "bench", "loop", 1, Timestamp::now()).unwrap();
    let key = RunKey { domain: "bench".to_owned(), mode: "loop".to_owned(), number: 1 };
    let ledger = Ledger::new(key, Listener::none(), Some(Arc::new(folder)));
    Toolbox::new(Arc::new(plugin), u32::MAX, ledger)
}

fn cassette(folder: &Path, domain: &Domain) -> PathBuf {
    let cassette = folder.join("cassette");
    fs::create_dir_all(cassette.join("bodies")).unwrap();
    let base = domain.manifest.api.base.as_deref().unwrap();
    let mut index = String::new();
    for (id, length) in [SMALL, MIDDLE, LARGE] {
        let body = format!("{id}.json");
        fs::write(cassette.join("bodies").join(&body), record(id, length)).unwrap();
        let url = format!("{base}/v1/objects/{id}");
        let line = json!({"url": url, "status": 200, "content_type": "application/json", "body": body});
        index.push_str(&format!("{line}\n"));
    }
    fs::write(cassette.join("index.jsonl"), index).unwrap();
    cassette
}

/// A record of many small fields, as an API's are, of about this length.
pub(crate) fn record(id: u64, length: usize) -> String {
    let part =
        |number: usize| json!({"elementName": format!("Part {number}"), "height": 12.5, "width": number, "note": null});
    let parts: Vec<Value> = (0..length / part(1000).to_string().len()).map(part).collect();
    json!({"objectID": id, "title": "Seated cat", "measurements": parts}).to_string()
}
