//! The sandbox `docker` at its real boundary: a container of the engine runs each script.
//!
//! The cases are those of the embedded sandbox, `tests/sandbox/NAME.py`, and the scripts in `tests/sandbox_docker/`, in the
//! same form. Without an engine, or without the image, the tests skip with a line that says so; in CI they fail.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/containers.rs"]
mod containers;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/sessions.rs"]
mod sessions;
#[path = "support/standin.rs"]
mod standin;

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bollard::query_parameters::KillContainerOptions;
use bytes::Bytes;
use containers::Containers;
use futures::StreamExt;
use scripts::{Case, LIMITS};
use standin::StandIn;
use workbench::sandbox::docker::{DockerSettings, Network};
use workbench::sandbox::{Bridge, BridgeError, Sandbox, ScriptEnd, ScriptLimits, ScriptOutcome};

async fn run_on(sandbox: &dyn Sandbox, source: &str, limits: ScriptLimits, bridge: &dyn Bridge) -> ScriptOutcome {
    scripts::run(sandbox, source, &standin::specs(), limits, bridge).await
}

/// The cases that are for this sandbox, in a folder of the tests.
async fn all_end_as_told(folder: &str) {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let sandbox = &*containers.sandbox;
    let mut cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder));
    cases.retain(|case| case.is_for(sandbox));
    assert!(cases.len() > 3, "the cases are gone");
    let tools = &standin::specs();
    let checks = futures::stream::iter(&cases)
        .map(|case| async move { case.differences(sandbox, tools, &StandIn::with_budget(case.calls())).await });
    let differences = checks.buffer_unordered(4).concat().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    containers.close().await;
}

#[tokio::test]
async fn scripts_end_and_print_as_in_the_embedded_sandbox() {
    all_end_as_told("sandbox").await;
}

#[tokio::test]
async fn scripts_that_need_more_than_an_interpreter_end_and_print_as_their_files_say() {
    all_end_as_told("sandbox_docker").await;
}

#[tokio::test]
async fn a_prepared_container_runs_one_script_and_the_next_gets_another() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let bridge = StandIn::with_budget(10);
    containers.sandbox.prepare().await;
    let prepared = containers.ids().await;
    containers.sandbox.prepare().await;
    assert_eq!((prepared.len(), containers.ids().await), (1, prepared));
    let source =
        "import json, os\nprint('left' in dir(json), os.path.exists('/tmp/left'))\njson.left = open('/tmp/left', 'w')";
    for _ in 0..2 {
        let outcome = run_on(&*containers.sandbox, source, LIMITS, &bridge).await;
        assert_eq!((outcome.end, outcome.stdout.text.as_str()), (ScriptEnd::Exit(0), "False False\n"));
    }
    containers.close().await;
}

#[tokio::test]
async fn scripts_of_a_run_share_a_container_when_it_is_used_again() {
    let reuse = DockerSettings { reuse: true, ..DockerSettings::default() };
    let Some(containers) = Containers::open(reuse).await else { return };
    let bridge = StandIn::with_budget(10);
    let (one, other) = (Arc::clone(&containers.sandbox).of_run(), Arc::clone(&containers.sandbox).of_run());
    for (run, source, end, stdout) in [
        (&one, "from tools import noop\nx = noop(1)", ScriptEnd::Exit(0), ""),
        (&other, "print('x' in globals())", ScriptEnd::Exit(0), "False\n"),
        // An error ends a script, and leaves what it had made.
        (&one, "print(x, noop(2))\nx = 3\nraise SystemExit(4)", ScriptEnd::Exit(4), "1 2\n"),
        (&one, "print(x)\nimport os\nos._exit(0)", ScriptEnd::Exit(0), "3\n"),
        // Nothing is left of an interpreter that has ended.
        (&one, "print('x' in globals())", ScriptEnd::Exit(0), "False\n"),
    ] {
        let outcome = run_on(&**run, source, LIMITS, &bridge).await;
        assert_eq!((outcome.end, outcome.stdout.text.as_str()), (end, stdout), "{source}: {}", outcome.stderr.text);
    }
    one.close().await;
    other.close().await;
    containers.close().await;
}

#[tokio::test]
async fn scripts_of_a_session_find_the_names_of_those_before() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    sessions::names_are_kept(containers.sandbox.clone(), LIMITS).await;
    sessions::a_script_that_is_ended_takes_the_names_along(containers.sandbox.clone(), LIMITS).await;
    sessions::answers_are_waited_for_together(containers.sandbox.clone(), LIMITS).await;
    let kill = async || {
        let [id] = <[String; 1]>::try_from(containers.ids().await).unwrap();
        containers.engine.docker().kill_container(&id, None::<KillContainerOptions>).await.unwrap();
    };
    // Those of earlier sessions are being removed.
    containers.sandbox.close().await;
    sessions::names_that_are_gone_are_told(containers.sandbox.clone(), LIMITS, kill).await;
    containers.close().await;
}

#[tokio::test]
async fn a_session_tells_what_its_scripts_end_and_leave() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let session = Arc::clone(&containers.sandbox).session();
    let not_kept = "note: /data/out/note.txt was not kept: no file is kept here\n";
    let ended = "note: the cell ended its interpreter, and the names of the cells before it are gone\n";
    for (source, stdout, stderr) in [
        ("kept = open('/data/out/note.txt', 'w').write('1')", "", not_kept),
        // What was told of a file is not told again.
        ("print(kept, open('/data/out/note.txt').read())", "1 1\n", ""),
        (
            "import os, sys; sys.stderr.write('unended'); sys.stderr.flush(); os._exit(0)",
            "",
            &format!("unended\n{ended}"),
        ),
        ("import os; print('kept' in globals(), os.listdir('/data/out'))", "False []\n", ""),
    ] {
        let (_, outcome) = sessions::cell(&session, source, LIMITS).await;
        let told = (outcome.end, outcome.stdout.text.as_str(), outcome.stderr.text.as_str());
        assert_eq!(told, (ScriptEnd::Exit(0), stdout, stderr), "{source}");
    }
    session.close().await;
    containers.close().await;
}

/// Keeps what scripts leave.
#[derive(Default)]
struct Shelf(Mutex<Vec<(String, usize)>>);

#[async_trait]
impl Bridge for Shelf {
    async fn call(&self, _tool: &str, _arguments: Bytes) -> Result<Bytes, BridgeError> {
        std::future::pending().await
    }

    async fn keep(&self, name: &str, content: Bytes) -> Result<(), String> {
        self.0.lock().unwrap().push((name.to_owned(), content.len()));
        if name.starts_with("unwanted") { Err("it is not wanted".to_owned()) } else { Ok(()) }
    }
}

#[tokio::test]
async fn files_that_a_script_leaves_are_kept_however_it_ends() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let write = "open('/data/out/note.txt', 'w').write('kept')\n";
    let short = ScriptLimits { time: std::time::Duration::from_secs(3), ..LIMITS };
    for (ending, end) in [
        ("", "Exit(0)"),
        ("raise ValueError", "Exit(1)"),
        ("import os; os._exit(3)", "Exit(3)"),
        ("import os; os.abort()", "Crashed"),
        ("while True: pass", "TimedOut"),
        ("while True: print('x' * 1_000_000)", "Stopped"),
    ] {
        let shelf = Shelf::default();
        let limits = if end == "TimedOut" { short } else { LIMITS };
        let outcome = run_on(&*containers.sandbox, &format!("{write}{ending}"), limits, &shelf).await;
        assert!(format!("{:?}", outcome.end).starts_with(end), "{ending}: {:?}", outcome.end);
        assert_eq!(*shelf.0.lock().unwrap(), [("note.txt".to_owned(), 4)], "{ending}");
    }
    containers.close().await;
}

#[tokio::test]
async fn what_is_no_file_of_its_own_is_not_kept_and_the_script_is_told() {
    let Some(containers) = Containers::open(DockerSettings::default()).await else { return };
    let source = "
import os, socket
os.chdir('/data/out')
os.symlink('/etc/passwd', 'link')
os.mkfifo('pipe')
os.mkdir('folder')
open('folder/within', 'w').close()
open('unwanted.txt', 'w').close()
open('fine.txt', 'w').write('1234')
socket.socket(socket.AF_UNIX).bind('socket')
";
    let shelf = Shelf::default();
    let outcome = run_on(&*containers.sandbox, source, LIMITS, &shelf).await;
    let mut kept = shelf.0.into_inner().unwrap();
    kept.sort();
    assert_eq!(kept, [("fine.txt".to_owned(), 4), ("unwanted.txt".to_owned(), 0)]);
    let mut told: Vec<&str> = outcome.stderr.text.lines().collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "note: /data/out/folder was not kept: folders are not",
            "note: /data/out/folder/within was not kept: files in folders are not",
            "note: /data/out/link was not kept: links and devices are not",
            "note: /data/out/pipe was not kept: links and devices are not",
            "note: /data/out/unwanted.txt was not kept: it is not wanted",
        ]
    );
    // Larger than the volume only in name.
    let sparse = "open('/data/out/sparse', 'w').truncate(1 << 40)";
    let outcome = run_on(&*containers.sandbox, sparse, LIMITS, &Shelf::default()).await;
    assert_eq!(outcome.end, ScriptEnd::Exit(0));
    assert_eq!(outcome.stderr.text, "note: the files in /data/out could not be fetched: they take more than 72 MB\n");
    containers.close().await;
}

#[tokio::test]
async fn what_is_chosen_of_a_sandbox_is_told_of_its_runs() {
    let choice = DockerSettings { network: Network::Open, reuse: true, runtime: None };
    let Some(containers) = Containers::open(choice).await else { return };
    let settings = containers.sandbox.settings();
    assert_eq!((settings["network"].as_str(), settings["container"].as_str()), ("open", "one a run"));
    assert!(settings["image"].starts_with("sha256:"), "{settings:?}");
    containers.close().await;
}
