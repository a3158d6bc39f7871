//! Whole runs whose scripts are in containers, by the real program: they measure what runs in the embedded sandbox do, say
//! where they were made, and are never pooled with others.
//!
//! Without an engine, or without the image, the tests skip with a line that says so; in CI they fail.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/containers.rs"]
mod containers;
#[path = "support/engine.rs"]
mod engine;
#[cfg(target_os = "linux")]
#[path = "support/patience.rs"]
mod patience;
#[cfg(target_os = "linux")]
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[cfg(target_os = "linux")]
#[path = "support/served.rs"]
mod served;

use std::process::{Command, Stdio};

use engine::{SecondEngine, with_image, workbench};
use program::{Outcome, Program, workspace};
use serde_json::Value;
use workbench::sandbox::docker::sweep;

/// The comparison of two modes in a sandbox, as JSON.
fn compare(program: &Program, sandbox: &[&str]) -> Value {
    compare_by(program, sandbox).0
}

/// The same, and the number of the process that made it.
fn compare_by(program: &Program, sandbox: &[&str]) -> (Value, u32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(["compare", "met", "--modes", "code,loop", "--runs", "1", "--format", "json"]).args(sandbox);
    command.current_dir(workspace()).env("WORKBENCH_RESULTS", program.results()).env_remove("WORKBENCH_ROUTES");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    (serde_json::from_str(&outcome.stdout).unwrap(), process)
}

/// What a mode read in a report, and whether it passed.
fn figures<'a>(report: &'a Value, mode: &str) -> (&'a Value, &'a Value, &'a Value) {
    let of_mode = report["modes"].as_array().unwrap().iter().find(|one| one["mode"] == mode).unwrap();
    (&of_mode["tokens_read"]["median"], &of_mode["passed"], &of_mode["sandbox"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_in_containers_measures_what_one_in_the_embedded_sandbox_does() {
    let Some(engine) = containers::engine().await else { return };
    let program = Program::new();
    let embedded = compare(&program, &[]);
    let (docker, process) = compare_by(&program, &["--sandbox", "docker"]);
    for mode in ["code", "loop"] {
        let ((tokens, passed, _), (tokens_there, passed_there, _)) = (figures(&docker, mode), figures(&embedded, mode));
        assert_eq!((tokens, passed), (tokens_there, passed_there), "{mode}");
    }
    assert_eq!((figures(&docker, "code").2, figures(&docker, "loop").2), (&Value::from("docker"), &Value::Null));
    let run = docker["runs"].as_array().unwrap().iter().find(|run| run["mode"] == "code").unwrap();
    assert_eq!(run["sandbox_settings"]["network"], "none");
    assert!(run["sandbox_settings"]["image"].as_str().unwrap().starts_with("sha256:"), "{run}");

    // One container a run is another setting: the rows stand apart, and the table tells them so.
    compare(&program, &["--sandbox", "docker", "--reuse"]);
    let report = program.run(&["report", "met"]).stdout;
    for row in ["code (embedded)", "code (docker)", "code (docker, container one a run)"] {
        assert!(report.contains(row), "{row} is not in\n{report}");
    }

    // A replay runs scripts where the run did.
    let name = run["run"].as_str().unwrap();
    let replay = program.json(&["replay", name, "--format", "json"]);
    assert_eq!(replay["same"], true, "{replay}");

    // One elsewhere says so where something differs.
    std::fs::remove_file(program.results().join("met").join(name).join("out/exhibit.html")).unwrap();
    for (sandbox, note) in [("docker", ""), ("embedded", "scripts ran in docker, those of the replay in embedded: ")] {
        let replay = program.run(&["replay", name, "--sandbox", sandbox]);
        assert_eq!(replay.code, 1, "{replay:?}");
        let told = replay.stderr.contains("note: the run's scripts ran in ");
        assert!(told != note.is_empty() && replay.stderr.contains(note), "{sandbox}: {replay:?}");
    }
    let shown = program.run(&["show", name]).stdout;
    assert!(shown.contains(", sandbox docker,"), "{shown}");

    let ours: Vec<_> = sweep::belongings(&engine).await.unwrap();
    let left: Vec<_> = ours.iter().filter(|one| one.process == Some(process)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_containers_have_is_refused_elsewhere_and_an_open_network_is_warned_of() {
    let program = Program::new();
    for (option, flag) in
        [(&["--network", "open"][..], "--network"), (&["--reuse"], "--reuse"), (&["--runtime", "runsc"], "--runtime")]
    {
        let outcome = program.run_with(&[&["script", "met", "-"][..], option].concat(), "print(1)");
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(&format!("`{flag}` is about containers")), "{outcome:?}");
    }
    if containers::engine().await.is_none() {
        return;
    }
    let open = ["script", "met", "-", "--sandbox", "docker", "--network", "open"];
    let outcome = program.run_with(&open, "print('here')");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "here\n"), "{outcome:?}");
    assert!(
        outcome.stderr.contains("warning: with `--network open` a script can send what it sees anywhere"),
        "{outcome:?}"
    );
    // An unknown runtime is told before a model is asked, so it leaves no run that was begun.
    let unknown = program.run(&["run", "met", "--mode", "code", "--sandbox", "docker", "--runtime", "no-such-runtime"]);
    assert_eq!(unknown.code, 4, "{unknown:?}");
    assert!(unknown.stderr.contains("offers no runtime `no-such-runtime`; it offers "), "{unknown:?}");
    assert!(program.run(&["report", "met"]).stderr.contains("there are no runs of met"));
    // A shim's name is not listed: the engine has the last word.
    let shim = ["script", "met", "-", "--sandbox", "docker", "--runtime", "io.containerd.no-such-shim.v9"];
    let outcome = program.run_with(&shim, "print('never')");
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.stderr.contains("the docker sandbox could not start"), "{outcome:?}");
    let automatic = program.run_with(&["script", "met", "-", "--sandbox", "auto"], "print('here')");
    assert!(automatic.stderr.contains("note: scripts run in containers (docker)"), "{automatic:?}");
}

/// An engine that may be on another machine: it sees no file of this one.
#[test]
fn scripts_run_on_a_remote_engine_too() {
    let (Some((here, image)), Some(remote)) = (with_image(), SecondEngine::start()) else { return };
    remote.engine.take_image(&here, image["tag"].as_str().unwrap());
    let results = tempfile::tempdir().unwrap();
    let variables = [("DOCKER_HOST", remote.address.as_str())];
    let script = results.path().join("script.py");
    std::fs::write(
        &script,
        "from tools import *\nprint(len(list_departments()))\nopen('/data/out/x.txt', 'w').write('kept')",
    )
    .unwrap();
    let place = results.path().to_str().unwrap();
    let arguments = ["--results", place, "script", "met", script.to_str().unwrap(), "--sandbox", "docker"];
    let outcome = workbench(&variables, &arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "19\n", ""), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(results.path().join("met/by-hand/out/x.txt")).unwrap(), "kept");
    let status = workbench(&variables, &["sandbox", "status"]).stdout;
    for what in ["containers: ", "volumes:    "] {
        assert!(status.contains(&format!("{what}0 in use, 0 left behind")), "{status}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_ended_leaves_no_container() {
    use serde_json::json;

    let Some(engine) = containers::engine().await else { return };
    let turns = json!([{ "code": ["await get_order({})"] }]);
    let mut served = served::Served::start(&turns, &["--sandbox", "docker"]);
    let answer = served.post(&served::question()).await;
    assert_eq!(answer.body["stop_reason"], "tool_use", "{:?}", answer.body);
    let process = served.id();
    let made = sweep::belongings(&engine).await.unwrap();
    assert!(made.iter().any(|one| one.process == Some(process)), "{made:?}");
    processes::send(process, rustix::process::Signal::INT);
    patience::until("it has ended", || served.code().is_some()).await;
    let left: Vec<_> = sweep::belongings(&engine).await.unwrap();
    assert!(!left.iter().any(|one| one.process == Some(process)), "{left:?}");
}
