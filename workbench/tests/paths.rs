//! Odd places for results and domains: they work, or are refused before anything is run.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/mount.rs"]
mod mount;
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

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use mount::Mounted;
use museum::{Museum, content, litter, names};
use patience::wait_until;
use processes::Running;
use program::{Outcome, finish};
use workbench::results::find::list_runs;

/// Names of folders that somebody has.
const NAMES: &[&[u8]] = &[
    b"with spaces",
    b"quotes ' and \"",
    b"100%25 %s",
    b"line\nfeed",
    b"-starts-with-a-dash",
    b"$HOME `id` ; & |",
    "Ausstellung Kätzchen 🐈".as_bytes(),
    b"not UTF-8 \xff\xfe",
];

const SETTINGS: [&str; 4] = ["--modes", "loop,code", "--runs", "1"];

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

fn is_good(report: &serde_json::Value, what: &dyn std::fmt::Debug) {
    let modes = report["modes"].as_array().unwrap();
    assert!(modes.len() == 2 && modes.iter().all(|mode| mode["passed"] == 1), "{what:?}: {report:#}");
}

#[test]
fn results_may_lie_in_a_folder_of_any_name() {
    let museum = Museum::open();
    for bytes in NAMES {
        let results = museum.home().join(name(bytes)).join("results");
        let report = museum.compared(&results, &SETTINGS);
        is_good(&report, &results);
        let run = &names(&report)[0];
        for arguments in [
            &["report", "museum"][..],
            &["report", "museum", "--format", "json"],
            &["show", run],
            &["show", run, "--format", "json"],
            &["verify", run],
        ] {
            let outcome = museum.outcome(&results, arguments);
            assert_eq!(outcome.code, 0, "{results:?} {arguments:?}: {outcome:?}");
        }
        assert_eq!(litter(&results), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_domain_may_lie_in_a_folder_of_any_name() {
    let museum = Museum::open();
    // The plugin lies beside the manifest, so that its path is as odd.
    museum.compared(&museum.results("builds the plugin"), &SETTINGS);
    let library = Path::new(env!("CARGO_BIN_EXE_workbench")).with_file_name("libmet.so");
    for bytes in NAMES {
        let workspace = museum.home().join(name(bytes));
        let domain = workspace.join("domains/museum");
        fs::create_dir_all(domain.join("rehearsal/code")).unwrap();
        fs::write(workspace.join("Cargo.toml"), "").unwrap();
        for file in ["domain.toml", "rehearsal/loop.py", "rehearsal/code/1.py", "rehearsal/code/2.py"] {
            fs::copy(museum.domain().join(file), domain.join(file)).unwrap();
        }
        let manifest = fs::read_to_string(domain.join("domain.toml")).unwrap();
        let manifest = manifest.replace("plugin = \"met\"", "library = \"libmet.so\"");
        fs::write(domain.join("domain.toml"), manifest).unwrap();
        fs::copy(&library, domain.join("libmet.so")).unwrap();
        for arguments in [
            &["compare", "museum", "--modes", "loop,code", "--runs", "1", "--format", "json"][..],
            &["show", "museum"],
            &["show", "museum", "--format", "json"],
            &["list", "--format", "json"],
            &["tools", "museum"],
        ] {
            let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_workbench"));
            program.args(arguments).current_dir(&workspace).env("WORKBENCH_ROUTES", museum.route());
            program.env_remove("WORKBENCH_RESULTS");
            let outcome = finish(&mut program, "");
            assert_eq!(outcome.code, 0, "{workspace:?} {arguments:?}: {outcome:?}");
            if arguments[0] == "compare" {
                is_good(&serde_json::from_str(&outcome.stdout).unwrap(), &workspace);
            }
        }
        assert!(!list_runs(&workspace.join("results"), None).unwrap().runs.is_empty());
    }
}

/// A folder so deep that paths are at or beyond what the system takes.
#[test]
fn a_path_that_is_too_long_is_refused_before_anything_is_run() {
    let museum = Museum::open();
    let mut ends = Vec::new();
    for length in [1000, 3800, 3950, 4000, 4050, 4090, 5000] {
        let mut results = museum.home().to_owned();
        while results.as_os_str().len() + 1 < length {
            let left = length - results.as_os_str().len() - 1;
            results.push("d".repeat(left.min(200)));
        }
        let outcome = finish(&mut museum.command(&results, "compare", &SETTINGS), "");
        if outcome.code == 2 {
            assert!(outcome.stderr.contains("cannot be written: File name too long"), "{length}: {outcome:?}");
            assert!(outcome.stderr.contains("choose another with `--results`"), "{length}: {outcome:?}");
            assert!(!outcome.stderr.contains(".trying-"), "a name of ours is nothing to the user: {outcome:?}");
        } else {
            assert_eq!(outcome.code, 0, "{length}: {outcome:?}");
        }
        ends.push(outcome.code);
    }
    assert_eq!((ends[0], ends[ends.len() - 1]), (0, 2), "{ends:?}");
}

/// What stands in the way of results, and what is said of it. Nothing is run.
#[test]
fn results_that_cannot_be_written_are_refused_before_anything_is_run() {
    let museum = Museum::open();
    let in_the_way = museum.home().join("a file");
    fs::write(&in_the_way, "").unwrap();
    let of_the_domain = museum.home().join("domain in the way");
    fs::create_dir(&of_the_domain).unwrap();
    fs::write(of_the_domain.join("museum"), "").unwrap();
    let mut places = vec![
        (in_the_way.clone(), "File exists"),
        (in_the_way.join("below"), "Not a directory"),
        (of_the_domain, "File exists"),
    ];
    let disk = Mounted::tmpfs("size=100k");
    if let Some(disk) = &disk {
        disk.read_only();
        places.push((disk.path().to_owned(), "Read-only file system"));
        places.push((disk.path().join("deeper"), "Read-only file system"));
    }
    for (results, told) in places {
        for command in ["compare", "run"] {
            let Outcome { code, stdout, stderr } = finish(&mut museum.command(&results, command, &[]), "");
            assert_eq!((code, stdout.as_str()), (2, ""), "{results:?}: {stderr}");
            let is_clear = stderr.contains(&format!("cannot be written: {told}")) && stderr.contains("`--results`");
            assert!(is_clear, "{results:?}: {stderr}");
        }
    }
    assert!(museum.requests().is_empty(), "nothing was asked for");
}

/// Reading needs no right to write.
#[test]
fn results_on_another_file_system_work_and_can_be_read_when_nobody_may_write() {
    let museum = Museum::open();
    let Some(disk) = Mounted::tmpfs("size=16m") else { return };
    let report = museum.compared(disk.path(), &SETTINGS);
    is_good(&report, &disk.path());
    disk.read_only();
    for arguments in [&["report", "museum"][..], &["show", &names(&report)[0]]] {
        let outcome = museum.outcome(disk.path(), arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
    }
    let verify = museum.outcome(disk.path(), &["verify", &names(&report)[0]]);
    assert_eq!(verify.code, 70, "{verify:?}");
    assert!(verify.stderr.contains("verify.json") && verify.stderr.contains("Read-only file system"), "{verify:?}");
    assert!(verify.stdout.contains("verified: 2 of 2 points"), "it is told all the same: {verify:?}");
}

#[test]
fn results_that_are_removed_during_a_run_are_missed() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let policy = "from tools import *\nwhile True:\n    get_object(1)\n    download_image(1)\n";
    fs::write(museum.domain().join("rehearsal/loop.py"), policy).unwrap();
    let settings = ["--modes", "loop", "--loop-turns", "1000000", "--tool-calls", "1000000"];
    let host = Running::start(&mut museum.command(&results, "compare", &settings));
    wait_until("the run is under way", || {
        list_runs(&results, None).is_ok_and(|listing| listing.runs.iter().any(|run| run.record.model_turns > 3))
    });
    // A file may be written while the folders go.
    wait_until("they are removed", || fs::remove_dir_all(&results).is_ok() || !results.exists());
    let outcome = host.end();
    assert_eq!(outcome.code, 70, "{outcome:?}");
    let is_clear =
        outcome.stderr.contains("could not write") && outcome.stderr.contains("or a folder that was removed");
    assert!(is_clear && outcome.stderr.contains("run.json"), "{outcome:?}");
    assert!(!results.join("museum").exists(), "nothing of it was made anew");
}

/// What others keep among the results is neither read as a run nor swept.
#[test]
fn folders_of_others_are_left_alone() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let theirs = [
        "notes.txt",
        "museum/notes.txt",
        "museum/.saving-notes of mine",
        "museum/my folder/.saving-abcdef",
        "museum/my folder/transcript.jsonl",
        "museum/2026-01-01T00-00-00Z-loop-1/notes.txt",
        "museum/2026-01-01T00-00-00Z-loop-2/transcript.jsonl",
        "museum/2026-01-01T00-00-00Z-loop-3/out/page.html",
        "another/2026-01-01T00-00-00Z-code-1/domain.toml",
        ".hidden/run.json",
        ".cache/notes.txt",
    ];
    for file in theirs {
        let path = results.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    let before = content(&results);
    // One folder is what a killed host leaves before its first word, and goes.
    let stillborn = results.join("museum/2026-01-01T00-00-00Z-code-9");
    for folder in ["out", "scripts"] {
        fs::create_dir_all(stillborn.join(folder)).unwrap();
    }
    for file in ["transcript.jsonl", "ledger.jsonl"] {
        fs::write(stillborn.join(file), "").unwrap();
    }
    fs::write(stillborn.join(".saving-ab12CD"), "[dom").unwrap();
    museum.compared(&results, &SETTINGS);
    let after = content(&results);
    for (path, bytes) in before {
        assert_eq!(after.get(&path), Some(&bytes), "{path:?}");
    }
    assert!(!stillborn.exists());
}
