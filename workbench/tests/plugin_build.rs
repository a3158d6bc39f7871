//! Building plugins through cargo, and using one that was built.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/patience.rs"]
mod patience;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use bytes::Bytes;
use faulty::{Host, start};
use tempfile::TempDir;
use workbench::domain::Domain;
use workbench::plugin::{CallOutcome, library_for};

/// A domain in a folder of its own, outside of the workspace.
fn domain(folder: &Path, reference: &str) -> Domain {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let manifest = format!("[domain]\nname = \"{name}\"\ntitle = \"Test\"\n{reference}\n");
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("domain.toml"), manifest).unwrap();
    Domain::load(folder).unwrap()
}

#[tokio::test]
async fn a_plugin_of_the_workspace_is_built_and_answers() {
    let folder = TempDir::new().unwrap();
    let heard = Mutex::new(Vec::new());
    let progress = |line: &str| heard.lock().unwrap().push(line.to_owned());
    let domain = domain(&folder.path().join("test"), "plugin = \"standin\"");
    let library = library_for(&domain, &progress).await.unwrap();
    assert!(heard.lock().unwrap().iter().all(|line| line == "building plugin standin…"));

    let client = start(&library, 60, &Host::letting_through(0)).await.unwrap();
    let names: Vec<&str> = client.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"query_database") && names.contains(&"noop"), "{names:?}");
    match client.call("query_database", Bytes::from_static(br#"{"sql":"select"}"#)).await {
        CallOutcome::Answer(body) => assert!(serde_json::from_slice::<String>(&body).unwrap().contains("alpha")),
        other => panic!("{other:?}"),
    }
    for (tool, arguments, expected) in [("nosuch", "{}", "nosuch"), ("query_database", "{}", "sql"), ("noop", "[", "")]
    {
        match client.call(tool, Bytes::from(arguments)).await {
            CallOutcome::ToolError(error) => assert!(error.message.contains(expected), "{error}"),
            other => panic!("{tool}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_plugin_that_does_not_compile_shows_the_first_error() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let crate_folder = root.join("plugins/broken");
    fs::create_dir_all(crate_folder.join("src")).unwrap();
    fs::write(root.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\"]\n").unwrap();
    fs::write(root.join("Cargo.lock"), "version = 4\n\n[[package]]\nname = \"broken\"\nversion = \"0.1.0\"\n").unwrap();
    let package = "[package]\nname = \"broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs::write(crate_folder.join("Cargo.toml"), package).unwrap();
    let broken = domain(&root.join("domains/test"), "plugin = \"broken\"");

    fs::write(crate_folder.join("src/lib.rs"), "fn tool() -> u8 { \"text\" }\nfn other() -> u8 { \"text\" }\n")
        .unwrap();
    let error = library_for(&broken, &|_| {}).await.unwrap_err().to_string();
    assert!(error.starts_with("the plugin broken could not be built: error[E0308]: mismatched types\n"), "{error}");
    assert!(error.contains("lib.rs:1:19") && !error.contains("lib.rs:2"), "{error}");

    fs::write(crate_folder.join("src/lib.rs"), "").unwrap();
    let error = library_for(&broken, &|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("crate-type = [\"cdylib\"]"), "{error}");
}

#[tokio::test]
async fn a_manifest_may_name_a_library_or_a_plugin_that_exists() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    fs::write(root.join("libown.so"), "").unwrap();
    let own = domain(&root.join("own"), "library = \"../libown.so\"");
    assert!(library_for(&own, &|_| {}).await.unwrap().ends_with("own/../libown.so"));
    let gone = domain(&root.join("gone"), "library = \"libgone.so\"");
    let error = library_for(&gone, &|_| {}).await.unwrap_err().to_string();
    assert_eq!(error, format!("the plugin library {} does not exist", root.join("gone/libgone.so").display()));
    let unknown = domain(&root.join("unknown"), "plugin = \"nosuch\"");
    let error = library_for(&unknown, &|_| {}).await.unwrap_err().to_string();
    assert!(
        error.starts_with("there is no plugin nosuch: neither its crate plugins/nosuch nor a built library "),
        "{error}"
    );
    assert!(error.ends_with(" exists"), "nothing is like it: {error}");
    let misspelt = domain(&root.join("misspelt"), "plugin = \"standni\"");
    let error = library_for(&misspelt, &|_| {}).await.unwrap_err().to_string();
    assert!(error.ends_with("; did you mean `standin`?"), "{error}");
}
