//! `workbench probe`: what a sandbox must stop, tried by the real program in the real sandbox, and in one that is weaker.
//!
//! Without an engine, or without the image, the tests of containers skip with a line that says so; in CI they fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/containers.rs"]
mod containers;
#[path = "support/program.rs"]
mod program;
#[path = "support/relay.rs"]
mod relay;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/standin.rs"]
mod standin;

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use containers::{Containers, engine};
use program::{Outcome, Program, finish, workspace};
use relay::{Losses, Relay};
use scripts::LIMITS;
use serde_json::Value;
use standin::StandIn;
use workbench::sandbox::docker::{DockerSettings, Network};
use workbench::sandbox::{SCRIPT_FILE, Sandbox as _, Script};

/// One at a time: each fills a machine for a while.
static ALONE: Mutex<()> = Mutex::new(());

fn probe(arguments: &[&str], engine: Option<&str>) -> Outcome {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.arg("probe").args(arguments).current_dir(workspace());
    if let Some(engine) = engine {
        command.env("DOCKER_HOST", engine);
    }
    finish(&mut command, "")
}

/// The table, without what another run may say otherwise.
fn snapshot(name: &str, outcome: &Outcome) {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let filters = [
        (r"in \d+\.\d s", "in [seconds] s"),
        // Where the system gives a script its last page late, time ends it.
        (r"(\| killed at its time limit +)(out of memory|killed at its time limit)", "${1}[one of both]"),
        // Columns are as wide as what stands in them.
        (r" {2,}", "  "),
    ];
    insta::with_settings!({filters => filters}, { insta::assert_snapshot!(name, outcome.stdout) });
}

#[cfg(feature = "embedded")]
#[test]
fn everything_is_as_expected_in_the_embedded_sandbox() {
    snapshot("embedded", &probe(&[], None));
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_as_expected_in_a_container_without_network() {
    if engine().await.is_some() {
        snapshot("docker_none", &probe(&["--sandbox", "docker"], None));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_reached_by_the_open_network_alone() {
    let Some(gateway) = gateway().await else { return };
    let listener = match TcpListener::bind((gateway, 0)) {
        Ok(listener) => listener,
        Err(error) => return skip(&format!("nothing can listen at the engine's gateway {gateway}: {error}")),
    };
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().for_each(|client| answer(client.unwrap())));
    let open = probe(&["--sandbox", "docker", "--network", "open", "--url", &url], None);
    snapshot("docker_open", &open);
    assert!(open.stderr.contains("warning: with `--network open`"), "{open:?}");
    for sandbox in ["docker", "embedded"] {
        let outcome = probe(&["--sandbox", sandbox, "--format", "json", "--url", &url], None);
        let finding = finding(&outcome, "public_api");
        assert_eq!((outcome.code, &finding["state"]), (0, &"ok".into()), "{outcome:?}");
        assert!(finding["got"].as_str().unwrap().starts_with("refused"), "{finding}");
    }
}

/// What the engine gives containers to reach the host by, as one of them sees it.
async fn gateway() -> Option<IpAddr> {
    let containers = Containers::open(DockerSettings { network: Network::Open, ..DockerSettings::default() }).await?;
    let source = "
for line in open('/proc/net/route').read().splitlines()[1:]:
    _, destination, gateway, *_ = line.split()
    if destination == '00000000':
        print('.'.join(str(byte) for byte in reversed(bytes.fromhex(gateway))))
";
    let script =
        Script { source, file: SCRIPT_FILE, tools: &[], domain: "standin", announce_waiting: false, limits: LIMITS };
    let outcome = containers.sandbox.run(&script, &StandIn::with_budget(0)).await;
    containers.close().await;
    match outcome {
        Ok(outcome) => Some(outcome.stdout.text.trim().parse().expect("a container has a gateway")),
        Err(error) => {
            skip(&format!("containers do not start with a network: {error}"));
            None
        }
    }
}

/// CI may not be a machine where this cannot run.
fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must run this: {why}");
    eprintln!("skipped: {why}");
}

fn answer(mut client: std::net::TcpStream) {
    _ = client.read(&mut [0; 4096]);
    _ = client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
}

fn finding(outcome: &Outcome, name: &str) -> Value {
    let probed: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
    let found = probed["probes"].as_array().unwrap().iter().find(|finding| finding["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {probed}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_leaves_out_is_missing() {
    if engine().await.is_none() {
        return;
    }
    let status: Value = Program::new().json(&["sandbox", "status", "--format", "json"]);
    let Some(socket) = status["engine"]["address"].as_str().and_then(|address| address.strip_prefix("unix://")) else {
        return skip("the engine has no socket on this machine");
    };
    let losses: Losses = &[
        (r#""ReadonlyRootfs":true"#, r#""ReadonlyRootfs":null"#),
        (r#""NetworkMode":"none""#, r#""NetworkMode":"host""#),
        (r#""CapDrop":["ALL"]"#, r#""CapDrop":[     ]"#),
        (r#""PidsLimit":128"#, r#""PidsLimit":0  "#),
        // All their memory: what is left for the script is not less than before.
        ("size=64m,nr_inodes", "size=99g,nr_inodes"),
    ];
    let weak = Relay::before(Path::new(socket));
    weak.lose(losses);
    let outcome = probe(&["--sandbox", "docker", "--format", "json"], Some(&weak.address()));
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let probed: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let missing: Vec<&str> = probed["probes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["state"] == "missing")
        .map(|finding| finding["name"].as_str().unwrap())
        // A machine that is offline has no such route in its own network either.
        .filter(|name| !["route_out", "gateway", "cloud_metadata"].contains(name))
        .collect();
    let all = ["host_loopback", "root_file_system", "rights", "fork_bomb", "disk_bomb_out"];
    assert_eq!(missing, all, "{probed}");
    assert_eq!(probed["ok"], false);
}

#[test]
fn every_probe_is_made_and_stands_in_the_docs() {
    let list = fs::read_to_string(workspace().join("workbench/src/sandbox/probe/list.rs")).unwrap();
    let docs = fs::read_to_string(workspace().join("docs/sandbox.md")).unwrap();
    let scripts = fs::read_dir(workspace().join("workbench/src/sandbox/probe/scripts")).unwrap();
    let names: Vec<String> =
        scripts.map(|entry| entry.unwrap().path().file_stem().unwrap().display().to_string()).collect();
    assert!(names.len() > 30, "the scripts are gone");
    for name in names {
        assert!(list.contains(&format!("\"{name}\"")), "{name} is never made");
        assert!(docs.contains(&format!("`{name}`")), "docs/sandbox.md does not say what {name} shows");
    }
}

#[test]
fn what_cannot_be_probed_is_told() {
    let no_engine = Some("unix:///nonexistent/engine.sock");
    let docker: &[&str] = &["--sandbox", "docker"];
    for (arguments, engine, code, told) in [
        (docker, no_engine, 4, "error: no container engine answers at unix:///nonexistent/engine.sock"),
        (&["--sandbox", "docker", "--reuse"], None, 2, "error: `--reuse` lets scripts find what others left"),
        (&["--sandbox", "embedded", "--network", "open"], None, 2, "error: `--network` is about containers"),
        (&["--url", "nowhere"], None, 2, "error: invalid value 'nowhere' for '--url <URL>'"),
    ] {
        let outcome = probe(arguments, engine);
        assert_eq!(outcome.code, code, "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(told), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
    }
}
