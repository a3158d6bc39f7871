//! Runs that others hand in, made to break whoever reads them: by the real program, which has little memory. A case is a
//! line.
#![allow(clippy::unwrap_used, clippy::print_stderr)]
#![cfg(target_os = "linux")]

#[path = "support/limited.rs"]
mod limited;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use limited::{Results, sparse};
use pipe::pipe;
use serde_json::{Value, json};

/// A file of the run, how it is made, and of each command its exit code and a part of what it says.
struct Case(&'static str, fn(&Path), [(&'static str, i32, &'static str); 3]);

const NOT_REGULAR: &str = "it is not a regular file";

fn zeros(path: &Path, megabytes: usize) {
    fs::write(path, format!("[{}0]", "0,".repeat(megabytes << 19))).unwrap();
}

/// Puts other JSON in a place of the record.
fn with(path: &Path, place: &str, json: &str) {
    let mut record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    *record.pointer_mut(place).unwrap() = serde_json::from_str(json).unwrap();
    fs::write(path, record.to_string()).unwrap();
}

fn verdict(points: &str, of_rule: &str) -> String {
    let rule = format!(r#"{{"name": "a", "status": "pass", "got": 1, "points": 1, "max_points": {of_rule}}}"#);
    format!(r#"{{"ok": true, "points": {points}, "max_points": 1, "rules": [{rule}]}}"#)
}

/// The three commands, when the run itself cannot be read.
const fn unreadable(text: &'static str) -> [(&'static str, i32, &'static str); 3] {
    // A report leaves the run out, and there is no other.
    [("report", 2, text), ("show", 2, text), ("verify", 2, text)]
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case("run.json", |path| fs::remove_file(path).unwrap(),
        [("report", 2, "there are no runs"), ("show", 2, "it holds no run.json"), ("verify", 2, "it holds no run.json")]),
    Case("run.json", |path| sparse(path, 500), unreadable("it has 500 MB; at most 8 MB are read")),
    Case("run.json", |path| zeros(path, 7), unreadable("some 456 MB of memory; at most 64 MB are spent on it")),
    Case("run.json", |path| fs::write(path, "[".repeat(100_000)).unwrap(), unreadable("recursion limit exceeded")),
    Case("run.json", |path| fs::write(path, "").unwrap(), unreadable("EOF while parsing")),
    Case("run.json", |path| fs::write(path, b"{\"format\": \"caf\xe9\"}").unwrap(), unreadable("invalid unicode")),
    Case("run.json", |path| fs::write(path, r#"{"format": "workbench/run/v1"}"#).unwrap(), unreadable("missing field")),
    Case("run.json", pipe, unreadable(NOT_REGULAR)),
    Case("run.json", |path| { fs::remove_file(path).unwrap(); symlink("/etc/passwd", path).unwrap() }, unreadable(NOT_REGULAR)),
    Case("run.json", |path| { fs::remove_file(path).unwrap(); fs::create_dir(path).unwrap() }, unreadable(NOT_REGULAR)),
    Case("run.json", |path| with(path, "/seconds", "-1.5"), unreadable("`seconds` is -1.5e0")),
    Case("run.json", |path| with(path, "/seconds", "1e300"), unreadable("`seconds` is 1e300; it must lie between 0 and 1e12")),
    Case("run.json", |path| with(path, "/seconds", "null"), unreadable("invalid type: null")),
    Case("run.json", |path| with(path, "/cost_usd", "-1"), unreadable("`cost_usd` is -1e0")),
    Case("run.json", |path| with(path, "/tokens_read", "-1"), unreadable("invalid value: integer `-1`")),
    Case("run.json", |path| with(path, "/model_turns", "4294967296"), unreadable("invalid value: integer `4294967296`")),
    Case("run.json", |path| with(path, "/verify", &verdict("1e13", "1")), unreadable("`verify.points` is 1e13")),
    Case("run.json", |path| with(path, "/verify", &verdict("1", "-0.5")), unreadable("`verify.rules[0].max_points` is -5e-1")),
    Case("evidence.json", |path| sparse(path, 500), [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, "it has 500 MB")]),
    Case("evidence.json", |path| zeros(path, 30), [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, "of memory; at most 512 MB")]),
    Case("evidence.json", pipe, [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, NOT_REGULAR)]),
    Case("evidence.json", |path| fs::write(path, "{\"answers\": {\"/r\": 5}}").unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "evidence.json: ")]),
    Case("evidence.json", |path| fs::write(path, "[1]").unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "evidence.json has no answer for /r")]),
    Case("ledger.jsonl", |path| sparse(path, 500), [("report", 0, "case"), ("show", 2, "line 1: it is longer than 128 MB"), ("verify", 5, "no answer")]),
    Case("ledger.jsonl", |path| zeros(path, 7), [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "no answer")]),
    Case("ledger.jsonl", |path| fs::write(path, "\0\0\n{}\n").unwrap(),
        [("report", 0, "case"), ("show", 2, "line 1: expected value"), ("verify", 5, "no answer")]),
    Case("ledger.jsonl", pipe, [("report", 0, "case"), ("show", 2, NOT_REGULAR), ("verify", 5, "no answer")]),
    Case("transcript.jsonl", |path| fs::write(path, "\0".repeat(1 << 20)).unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "no answer")]),
    Case("transcript.jsonl", pipe, [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "no answer")]),
    Case("domain.toml", |path| sparse(path, 500), [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, "it is longer than 8 MB")]),
    Case("domain.toml", pipe, [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, "it is a pipe or a device, not a file")]),
    Case("domain.toml", |path| fs::write(path, b"\xff\xfe").unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 2, "this is not UTF-8")]),
    Case("verify.json", |path| symlink("/etc/hostname-that-is-not-there", path).unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 5, "no answer")]),
    Case("verify.json", |path| fs::create_dir(path).unwrap(),
        [("report", 0, "case"), ("show", 0, "case"), ("verify", 70, "not verified: no rule could be decided")]),
];

#[test]
fn each_is_read_in_bounded_memory_or_refused_in_clear_words() {
    let mut wrong = Vec::new();
    for (number, Case(file, make, expected)) in CASES.iter().enumerate() {
        let results = Results::new();
        let folder = results.run(&format!("case-{number}"), "r = { get = '/r' }", "r is defined");
        make(&folder.join(file));
        for (command, code, text) in expected {
            let subject = if *command == "report" { "case" } else { folder.to_str().unwrap() };
            let outcome = results.workbench(&[], &[command, subject]);
            if outcome.code != *code || !(outcome.stdout.contains(text) || outcome.stderr.contains(text)) {
                wrong.push(format!("{number}, {file}, {command}: {code}, {text}\n{outcome:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A run that is not found may lie where nobody may look.
#[test]
fn a_domain_that_cannot_be_read_is_named() {
    let results = Results::new();
    let run = results.run("hidden", "r = { get = '/r' }", "r is defined");
    let domain = run.parent().unwrap();
    fs::set_permissions(domain, Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(domain).is_ok() {
        eprintln!("skipped: root may read every folder");
        return;
    }
    for command in ["show", "verify"] {
        let outcome = results.workbench(&[], &[command, "hidden"]);
        let told = format!("could not read {}", domain.display());
        assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{command}: {outcome:?}");
    }
    fs::set_permissions(domain, Permissions::from_mode(0o755)).unwrap();
}

/// What another wrote is shown as text, never sent to the terminal as it is: names of files and folders, too.
#[test]
fn names_cannot_repaint_the_terminal() {
    let results = Results::new();
    let folder = results.run("\u{1b}[2Jrun", "r = { get = '/r\u{1b}[2J' }", "r is defined");
    let path = folder.to_str().unwrap();
    for arguments in [&["report", "case"][..], &["show", path], &["verify", path]] {
        let outcome = results.workbench(&[], arguments);
        assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'), "{outcome:?}");
    }
    fs::write(folder.join("run.json"), "\u{1b}[2J").unwrap();
    for arguments in [&["report", "case"][..], &["show", path], &["verify", path]] {
        let outcome = results.workbench(&[], arguments);
        assert!(outcome.code == 2 && !outcome.stderr.contains('\u{1b}'), "{outcome:?}");
    }
}

/// Ends a line, begins another, and turns letters round.
const FORGED: &str = "a\nFORGED  pass  1 of 1\u{2028}FORGED\t\u{202e}\u{2066}\u{200f}\u{61c}b";

/// Where it stands in `run.json`. A name stays on its line; a text of several lines is set apart from ours.
const NAMES: &[&str] = &[
    "/run",
    "/domain",
    "/mode",
    "/model",
    "/sandbox",
    "/source",
    "/profile",
    "/tag",
    "/rehearsal_of",
    "/prices",
    "/retried/0/cause",
    "/deviations/0",
    "/started",
    "/per_turn/0/tools/0",
    "/verify/rules/0/name",
    "/verify/rules/0/got",
];
const TEXTS: &[&str] = &["/stop_detail", "/final_text", "/faults/0/text"];

#[test]
fn no_text_of_another_looks_like_a_line_of_ours() {
    let results = Results::new();
    let folder = results.run("handed-in", "r = { get = '/r' }", "r is defined");
    let sound = format!("{}/run.json", folder.display());
    let mut sound: Value = serde_json::from_str(&fs::read_to_string(sound).unwrap()).unwrap();
    let turn = json!({"turn": 1, "tokens_read": 1, "input_tokens": 1, "output_tokens": 1, "tools": ["a"]});
    let rule = json!({"name": "a", "status": "fail", "got": "a", "points": 0.0, "max_points": 1.0});
    sound["per_turn"] = json!([turn]);
    sound["faults"] = json!([{"text": "a", "count": 2}]);
    sound["verify"] = json!({"ok": false, "points": 0.0, "max_points": 1.0, "rules": [rule]});
    sound["retried"] = json!([{"turn": 1, "cause": "a", "wait_seconds": 1.0}]);
    sound["deviations"] = json!(["a"]);
    sound["cost_usd"] = json!(1.0);
    for name in ["rehearsal_of", "stop_detail", "prices"] {
        sound[name] = json!("a");
    }
    let call = json!({"turn": 1, "script": 1, "tool": FORGED, "arguments": {}, "ms": 1, "bytes": u64::MAX,
        "outcome": "answered"});
    fs::write(folder.join("ledger.jsonl"), format!("{call}\n{call}\n")).unwrap();
    let manifest = fs::read_to_string(folder.join("domain.toml")).unwrap();
    fs::write(folder.join("domain.toml"), manifest.replace("\"rule\"", &json!(FORGED).to_string())).unwrap();
    let mut wrong = Vec::new();
    let mut told = String::new();
    for place in NAMES.iter().chain(TEXTS).chain(&["/limits"]) {
        let mut record = sound.clone();
        match record.pointer_mut(place) {
            Some(value) => *value = json!(FORGED),
            None => record["limits"] = json!({FORGED: 1}),
        }
        let other = results.run("other", "r = { get = '/r' }", "r is defined");
        fs::write(other.join("run.json"), sound.to_string()).unwrap();
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
        for arguments in [["report", "case"], ["show", folder.to_str().unwrap()], ["verify", folder.to_str().unwrap()]]
        {
            // `verify` writes its own verdict into the record.
            let outcome = results.workbench(&[], &arguments);
            let text = outcome.stdout + &outcome.stderr;
            let is_forged = |line: &str| match TEXTS.contains(place) {
                true => line.starts_with("FORGED"),
                false => line.trim_start().starts_with("FORGED"),
            };
            let harmful = ['\u{2028}', '\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}'];
            if text.lines().any(is_forged) || text.contains(harmful) || !TEXTS.contains(place) && text.contains('\t') {
                wrong.push(format!("{place}, {}:\n{text}", arguments[0]));
            }
            told.push_str(&text);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(told.contains("a\\nFORGED") && told.contains("\n  FORGED"), "the texts are shown: {told}");
}

/// Only what lies in the run itself is swept.
#[test]
fn a_link_in_the_place_of_a_folder_is_not_swept() {
    let results = Results::new();
    let folder = results.run("linked", "r = { get = '/r' }", "r is defined");
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = elsewhere.path().join(".saving-abc123");
    fs::write(&theirs, "").unwrap();
    fs::remove_dir(folder.join("out")).unwrap();
    symlink(elsewhere.path(), folder.join("out")).unwrap();
    let outcome = results.workbench(&[], &["verify", folder.to_str().unwrap()]);
    assert!(outcome.code == 5 && theirs.exists(), "{outcome:?}");
}
