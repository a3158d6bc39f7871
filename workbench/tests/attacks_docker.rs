//! Scripts that mean harm or are badly broken, in containers: those of the embedded sandbox, `tests/attacks/`, but for
//! what only its interpreter has, and those for which it takes files, processes and the descriptors of a container,
//! `tests/attacks_docker/`. Each ends in a bounded time with a cause that is told, the next script runs, and nothing is
//! left in the engine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/attacks.rs"]
mod attack;
#[path = "support/containers.rs"]
mod containers;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/standin.rs"]
mod standin;

use std::path::Path;

use containers::Containers;
use futures::StreamExt;
use scripts::{Case, LIMITS};
use workbench::sandbox::ScriptEnd;
use workbench::sandbox::docker::DockerSettings;

#[tokio::test]
async fn every_attack_on_a_container_ends_as_its_file_says() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let sandbox = &*containers.sandbox;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut cases: Vec<Case> =
        ["attacks", "attacks_docker"].iter().flat_map(|name| Case::all(&tests.join(name))).collect();
    cases.retain(|case| case.is_for(sandbox));
    assert!(cases.len() > 100, "the cases are gone");
    assert!(cases.iter().all(|case| case.setting("end").is_some()), "a case does not say how it ends");
    let complaints = futures::stream::iter(&cases).map(|case| attack::complaints(sandbox, case)).buffer_unordered(5);
    let complaints: Vec<String> = complaints.concat().await;
    let outcome = attack::run(sandbox, "from tools import *\nprint(noop('well'))", LIMITS, 1).await;
    assert!(complaints.is_empty(), "{} of {}\n{}", complaints.len(), cases.len(), complaints.join("\n"));
    assert_eq!((outcome.end, outcome.stdout.text.as_str()), (ScriptEnd::Exit(0), "well\n"));
    containers.close().await;
}

/// A wait stops the script's clock: whoever says it, the time that is limited does not get longer.
#[tokio::test]
async fn every_attack_ends_as_its_file_says_where_waits_are_announced() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks_docker"));
    assert!(cases.len() > 40, "the cases are gone");
    let run = |case| attack::complaints_announced(containers.sandbox.clone(), case);
    let complaints: Vec<String> = futures::stream::iter(&cases).map(run).buffer_unordered(5).concat().await;
    assert!(complaints.is_empty(), "{} of {}\n{}", complaints.len(), cases.len(), complaints.join("\n"));
    containers.close().await;
}
