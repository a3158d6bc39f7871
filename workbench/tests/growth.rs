//! What a run takes grows with its work and not faster: children, copies of a record, bytes written.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/standin.rs"]
mod standin;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use patience::until;
use plugin_api::wire::{HostReply, HostRequest};
use processes::children;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use standin::StandIn;
use workbench::domain::Domain;
use workbench::frames::MAX_BODY;
use workbench::plugin::{CallOutcome, ClientSettings, HostServices, PluginClient, library_for};
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings, SUBCOMMAND};
use workbench::sandbox::{SCRIPT_FILE, Sandbox as _, Script, ScriptLimits};

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_workbench").into()
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The script workers that this process has started and that live.
fn script_workers() -> usize {
    children(std::process::id()).iter().filter(|child| child.role() == SUBCOMMAND).count()
}

async fn until_there_are(workers: usize) {
    until(&format!("{workers} script workers"), || script_workers() == workers).await;
}

#[tokio::test]
async fn a_pool_keeps_one_child_ready_and_never_more_than_asked() {
    let sandbox = Embedded::new(EmbeddedSettings { program: Some(program()) });
    let run = async |source: &str| {
        let limits = ScriptLimits { time: Duration::from_secs(120), memory: 256 << 20, output_bytes: 1024 };
        let tools = standin::specs();
        let script =
            Script { source, file: SCRIPT_FILE, tools: &tools, domain: "standin", announce_waiting: false, limits };
        let outcome = sandbox.run(&script, &StandIn::with_budget(10)).await.unwrap();
        assert!(outcome.end.is_success(), "{outcome:?}");
    };
    assert_eq!(script_workers(), 0, "nothing was asked for");

    join_all((0..4).map(|_| sandbox.prepare())).await;
    assert_eq!(script_workers(), 1, "asked for four times at once, and kept once");
    sandbox.prepare().await;
    assert_eq!(script_workers(), 1, "what is ready is not made again");

    run("print(1)").await;
    assert_eq!(script_workers(), 0, "the one that was ready has run, and no other was asked for");

    sandbox.prepare().await;
    let scripts = ["import time; time.sleep(0.2)"; 3];
    tokio::join!(join_all(scripts.iter().map(|source| run(source))), until_there_are(3));
    assert_eq!(script_workers(), 0, "three ran at once, one of them in the child that was ready");

    sandbox.prepare().await;
    drop(sandbox);
    until_there_are(0).await;
}

/// Answers whatever is asked for with one document.
struct OneDocument(Bytes);

#[async_trait]
impl HostServices for OneDocument {
    async fn request(&self, _call: u64, _request: HostRequest, _body: Bytes) -> (HostReply, Bytes) {
        (HostReply::Json, self.0.clone())
    }

    fn call_ended(&self, _call: u64) {}
}

/// What a tool answers that hands on this document.
async fn handed_on(document: Bytes) -> CallOutcome {
    let domain = Domain::load(&workspace().join("domains/met")).unwrap();
    let library = library_for(&domain, &|_| {}).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let settings = ClientSettings {
        tool_seconds: 60,
        out: home.path().join("out"),
        program: Some(program()),
        ..ClientSettings::default()
    };
    let client = PluginClient::start(&library, Arc::new(OneDocument(document)), settings).await.unwrap();
    client.call("get_object", Bytes::from_static(br#"{"object_id": 7}"#)).await
}

#[tokio::test]
async fn a_record_passes_host_and_worker_byte_for_byte() {
    let large = format!("{{\"parts\": [{}0]}}\r\n", "{\"a\": 1.50, \"b\" :null},\n".repeat(30_000));
    assert!(large.len() > 665_000);
    for document in [
        "null",
        " { \"b\" : 1 ,\t\"a\":2, \"b\": 3 }\n\n",
        "[1.0, 1e3, 1E+3, -0, 0.10, 123456789012345678901234567890]",
        r#""\ud83d\udc08 \/ \u0041 \u0000 é 猫 🐈""#,
        "\"\u{7f}\u{2028}\"",
        large.as_str(),
    ] {
        let outcome = handed_on(Bytes::copy_from_slice(document.as_bytes())).await;
        assert!(
            outcome == CallOutcome::Answer(Bytes::copy_from_slice(document.as_bytes())),
            "{document:.80}: {outcome:.80?}"
        );
    }
}

/// A domain may allow longer bodies than a frame can have: the tool is told, and its worker lives.
#[tokio::test]
async fn a_record_that_no_frame_can_hold_is_told_to_the_tool() {
    match handed_on(vec![b' '; MAX_BODY as usize].into()).await {
        CallOutcome::ToolError(error) => assert!(error.to_string().contains("over the limit of 268435456"), "{error}"),
        other => panic!("{other:.80?}"),
    }
}

/// Bytes that the program and its children write, to files and to each other, in a run of so many turns.
fn written(turns: u32) -> u64 {
    let home = tempfile::tempdir().unwrap();
    let domain = home.path().join("standin");
    fs::create_dir_all(domain.join("rehearsal")).unwrap();
    fs::copy(workspace().join("workbench/tests/domains/standin/domain.toml"), domain.join("domain.toml")).unwrap();
    let policy = format!("from tools import *\nfor _ in range({turns}):\n    noop('x' * 20_000)\n");
    fs::write(domain.join("rehearsal/loop.py"), policy).unwrap();
    let mut program = Command::new(program());
    program.arg("run").arg(&domain).args(["--mode", "serial", "--format", "json", "--results"]).arg(home.path());
    let mut process = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let printed = std::io::read_to_string(process.stdout.take().unwrap()).unwrap();
    assert!(printed.contains(&format!("\"tool_calls\": {turns},")), "{printed}");
    // Its figures can be read until it is reaped.
    waitid(WaitId::Pid(Pid::from_child(&process)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let figures = fs::read_to_string(format!("/proc/{}/io", process.id())).unwrap();
    process.wait().unwrap();
    figures.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

/// Were the transcript written anew with each turn, twice the turns would write four times as much.
#[test]
fn what_a_run_writes_grows_with_its_turns() {
    // The first may build the plugin, and that counts as well.
    let [_, few, some, many] = [1, 15, 30, 60].map(written);
    let growth = (many - some) as f64 / (some - few) as f64;
    assert!((1.8..2.5).contains(&growth), "{few}, {some} and {many} bytes: grown by {growth}");
}
