//! Ctrl-C, SIGTERM and SIGHUP at several moments: workers are gone, what was made is kept, and nobody judges it.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/museum.rs"]
mod museum;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use museum::{Museum, content, litter};
use patience::wait_until;
use processes::{Running, descendants, send};
use rustix::process::Signal;
use workbench::results::find::list_runs;
use workbench::results::format::{RunRecord, Stop};
use workbench::results::store::read_ledger;

/// Signals that are sent, one after the other.
const ORDERS: &[&[Signal]] =
    &[&[Signal::INT], &[Signal::TERM], &[Signal::HUP], &[Signal::INT, Signal::INT], &[Signal::TERM, Signal::INT]];

/// Scripts that never end by themselves, for the mode they play in, and what has been done before they wait.
const ENDLESS: &[(&str, &str, &str)] = &[
    ("loop", "from tools import *\nget_object(1)\nwhile True:\n    pass\n", "the model thinks"),
    ("code", "from tools import *\nget_object(1)\nwhile True:\n    pass\n", "a script computes"),
    ("code", "from tools import *\nget_object(1)\nget_object(4)\n", "a tool waits for the API"),
];

fn runs(results: &Path) -> Vec<(RunRecord, PathBuf)> {
    let listing = list_runs(results, None).unwrap();
    assert!(listing.skipped.is_empty(), "{:?}", listing.skipped);
    listing.runs.into_iter().map(|run| (run.record, run.folder)).collect()
}

/// Sends the signals, and looks at what they leave: the host's children are gone, its folders are clear.
fn interrupt(host: Running, signals: &[Signal], results: &Path, what: &str) {
    let children = descendants(host.0.id());
    assert!(!children.is_empty(), "{what}: nobody is at work");
    for signal in signals {
        send(host.0.id(), *signal);
    }
    let outcome = host.end();
    assert_eq!(outcome.code, 130, "{what}: {outcome:?}");
    wait_until(&format!("{what}: workers are gone"), || children.iter().all(|child| !child.is_alive()));
    if signals.len() == 1 {
        assert_eq!(litter(results), Vec::<PathBuf>::new(), "{what}");
    }
}

#[test]
fn a_run_is_kept_whatever_it_is_doing() {
    let museum = Museum::open();
    museum.open_gate(false);
    for (mode, script, what) in ENDLESS {
        let file = if *mode == "loop" { "rehearsal/loop.py" } else { "rehearsal/code/1.py" };
        fs::write(museum.domain().join(file), script).unwrap();
        for (number, signals) in ORDERS.iter().enumerate() {
            let results = museum.results(&format!("{what} {number}"));
            let host = Running::start(&mut museum.command(&results, "run", &["--mode", mode, "--fresh"]));
            wait_until(what, || runs(&results).iter().any(|(_, run)| !read_ledger(run).unwrap().is_empty()));
            interrupt(host, signals, &results, what);
            let [(record, folder)] = &runs(&results)[..] else { panic!("{what}: not one run") };
            assert_eq!((record.stop, &record.verify), (Stop::Interrupted, &None), "{what} {signals:?}");
            assert!(folder.join("out").is_dir(), "{what}");
            let show = museum.outcome(&results, &["show", folder.to_str().unwrap()]);
            assert!(show.code == 0 && show.stdout.contains("stop interrupted"), "{what}: {show:?}");
        }
    }
}

/// What was started to outlive its terminal goes on.
#[test]
fn a_comparison_under_nohup_goes_on_without_a_terminal() {
    let museum = Museum::open();
    museum.open_gate(false);
    let results = museum.results("nohup");
    let command = museum.command(&results, "compare", &["--modes", "code", "--runs", "1", "--format", "json"]);
    let mut nohup = Command::new("nohup");
    nohup.arg(command.get_program()).args(command.get_args()).current_dir(museum.home());
    let host = Running::start(nohup.env_remove("WORKBENCH_ROUTES").env_remove("WORKBENCH_RESULTS"));
    wait_until("it is under way", || !runs(&results).is_empty());
    send(host.0.id(), Signal::HUP);
    museum.open_gate(true);
    let outcome = host.end();
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

/// The host that judges waits for an answer that has no end.
#[test]
fn a_run_is_kept_while_it_is_judged() {
    let museum = Museum::open();
    museum.open_gate(false);
    let manifest = museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let rule = "[[verify]]\nname = \"a fourth\"\ncheck = \"fourth.title == 'Piece 4'\"\n";
    let text = text.replacen("[[verify]]", &format!("fourth = {{ get = \"/v1/objects/4\" }}\n\n{rule}\n[[verify]]"), 1);
    fs::write(&manifest, text).unwrap();
    for signals in ORDERS {
        let results = museum.results(&format!("{signals:?}"));
        let asked = || museum.requests().get("/v1/objects/4").copied().unwrap_or_default();
        let before = asked();
        let host = Running::start(&mut museum.command(&results, "run", &["--mode", "loop"]));
        wait_until("it is judged", || asked() > before);
        send(host.0.id(), signals[0]);
        for signal in &signals[1..] {
            send(host.0.id(), *signal);
        }
        let outcome = host.end();
        assert_eq!(outcome.code, 130, "{outcome:?}");
        let [(record, folder)] = &runs(&results)[..] else { panic!("not one run") };
        assert_eq!((record.stop, &record.verify), (Stop::Interrupted, &None), "{signals:?}");
        assert_eq!(record.final_text, "['Piece 1', 'Piece 2', 'Piece 3']");
        assert!(folder.join("out/page.html").is_file() && !folder.join("verify.json").exists());
    }
}

/// Neither the replay nor what it was to make is left, and the run is as it was.
#[test]
fn a_replay_that_is_given_up_leaves_nothing() {
    let museum = Museum::open();
    fs::write(museum.domain().join("rehearsal/loop.py"), "from tools import *\nget_object(4)\nprint('done')\n")
        .unwrap();
    let results = museum.results("replayed");
    let made = museum.command(&results, "run", &["--mode", "loop"]).output().unwrap();
    assert!(matches!(made.status.code(), Some(0 | 1)), "{made:?}");
    let [(_, folder)] = &runs(&results)[..] else { panic!("not one run") };
    museum.open_gate(false);
    let before = content(&results.join("museum"));
    let (run, domain, route) = (folder.to_str().unwrap(), museum.domain(), museum.route());
    let to = museum.home().join("to");
    let words: &[&[&str]] = &[
        &["replay", run, "--domain", domain.to_str().unwrap(), "--fresh", "--route", &route],
        &["record", domain.to_str().unwrap(), "--from", run, "--to", to.to_str().unwrap(), "--route", &route],
    ];
    for words in words {
        for signals in ORDERS {
            // What the run fetched would be answered at once.
            _ = fs::remove_dir_all(results.join(".cache"));
            let asked = || museum.requests().get("/v1/objects/4").copied().unwrap_or_default();
            let seen = asked();
            let host = Running::start(&mut museum.plain(&results, words));
            wait_until("its call waits for the API", || asked() > seen);
            interrupt(host, signals, &results, words[0]);
            assert!(content(&results.join("museum")) == before && !to.exists(), "{words:?} {signals:?}");
        }
    }
}

/// Before the first run there is nothing to keep; a compiler that was started ends, too.
#[test]
fn a_plugin_that_is_being_built_is_given_up() {
    let museum = Museum::open();
    let crate_folder = museum.home().join("plugins/slow");
    fs::create_dir_all(&crate_folder).unwrap();
    fs::write(crate_folder.join("Cargo.toml"), "").unwrap();
    // Stands for cargo, and for a compiler it has started.
    let cargo = museum.home().join("cargo");
    fs::write(&cargo, "#!/bin/sh\nsleep 3600 &\nsleep 3600\n").unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let manifest = fs::read_to_string(museum.domain().join("domain.toml")).unwrap();
    fs::write(museum.domain().join("domain.toml"), manifest.replace("plugin = \"met\"", "plugin = \"slow\"")).unwrap();
    let commands: &[(&str, &[&str])] = &[("run", &[]), ("compare", &["--runs", "1"]), ("call", &["get_object"])];
    for (command, more) in commands {
        for signals in ORDERS {
            let results = museum.results(&format!("{command} {signals:?}"));
            let mut program: Command = museum.command(&results, command, more);
            let host = Running::start(program.env("CARGO", &cargo));
            wait_until("both compilers are started", || descendants(host.0.id()).len() == 3);
            interrupt(host, signals, &results, command);
            assert!(runs(&results).is_empty(), "{command}");
        }
    }
}
