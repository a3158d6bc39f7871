//! The sandbox `docker` at its real boundary: a container of the engine runs each script.
//!
//! The cases are those of the embedded sandbox, `tests/sandbox/NAME.py`, and the scripts in `tests/sandbox_docker/`, in the
//! same form. Without an engine, or without the image, the tests skip with a line that says so; in CI they fail.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/containers.rs"]
mod containers;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/standin.rs"]
mod standin;

use std::path::Path;

use containers::docker;
use futures::StreamExt;
use scripts::Case;
use standin::StandIn;
use workbench::sandbox::docker::DockerSettings;

/// The cases that are for this sandbox, in a folder of the tests.
async fn all_end_as_told(folder: &str) {
    let Some(sandbox) = docker(DockerSettings::default()).await else { return };
    let sandbox = &*sandbox;
    let mut cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder));
    cases.retain(|case| case.is_for(sandbox));
    assert!(cases.len() > 3, "the cases are gone");
    let tools = &standin::specs();
    let checks = futures::stream::iter(&cases)
        .map(|case| async move { case.differences(sandbox, tools, &StandIn::with_budget(case.calls())).await });
    let differences = checks.buffer_unordered(2).concat().await;
    sandbox.close().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn scripts_end_and_print_as_in_the_embedded_sandbox() {
    all_end_as_told("sandbox").await;
}

#[tokio::test]
async fn scripts_that_need_more_than_an_interpreter_end_and_print_as_their_files_say() {
    all_end_as_told("sandbox_docker").await;
}
