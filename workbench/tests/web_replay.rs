//! The real program against the replaying API server that lies beside this repository on some machines, and its faults:
//! what a model is told by a tool. Where the server is not there, that is said and nothing is tested.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/program.rs"]
mod program;
#[path = "support/replay.rs"]
mod replay;

use std::fs;
use std::path::{Path, PathBuf};

use program::Program;
use replay::Replay;

const MANIFEST: &str = "
[domain]
name = 'replay'
title = 'Replay'
plugin = 'met'

[api]
base = 'https://collectionapi.metmuseum.org/public/collection'
hosts = ['collectionapi.metmuseum.org']
pace = { gap_ms = 0 }
request_seconds = 3
body_mb = 1
";

const RECORD: &str = "{\"objectID\":";
/// As an error says it.
const URL: &str = "ERROR: https://collectionapi.metmuseum.org/public/collection/v1/objects/ID ";

/// The rule, which is for the requests of one object, and how the answer to a call begins: a record, or an error. `ID` is
/// the object's.
const FAULTS: [(&str, &str); 15] = [
    ("status=599,first=0", RECORD),
    ("status=429,first=1", RECORD),
    ("status=429,first=1,retry_after=1", RECORD),
    ("status=429,retry_after=3600", "returned HTTP 429"),
    ("status=403", "returned HTTP 403"),
    ("status=500,first=1", RECORD),
    ("status=503,retry_after=3600", "returned HTTP 503"),
    ("truncate=100,first=1", RECORD),
    ("hang=30,first=1", RECORD),
    ("garbage=1", "answered with broken JSON: "),
    ("html=1", "answered with text/html"),
    ("huge=200MB", "answered with more than 1 MB (`[api] body_mb`)"),
    ("status=404", "returned HTTP 404"),
    (
        "redirect=https://evil.example/",
        "redirects to https://evil.example/, which is not allowed: `evil.example` is not",
    ),
    ("redirect=/public/collection/v1/objects/ID", "redirected more than 5 times, last to "),
];

#[test]
fn every_fault_of_the_replaying_server_ends_in_a_record_or_a_clear_text() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/met/public/collection/v1/objects");
    let ids: Vec<u64> = fs::read_dir(&data).map(ids).unwrap_or_default();
    if ids.len() < FAULTS.len() {
        eprintln!("skipped: there are no recorded objects in {}", data.display());
        return;
    }
    let rule = |(id, (rule, _)): (&u64, &(&str, &str))| {
        format!("path=/v1/objects/{id},{}", rule.replace("ID", &id.to_string()))
    };
    let faults: Vec<String> = ids.iter().zip(&FAULTS).map(rule).collect();
    let Some(server) = Replay::start(&faults) else { return };
    let home = tempfile::tempdir().unwrap();
    let domain = home.path().join("replay");
    fs::create_dir(&domain).unwrap();
    fs::write(domain.join("domain.toml"), MANIFEST).unwrap();
    let route = format!("collectionapi.metmuseum.org={}", server.url);
    for (id, (fault, words)) in ids.iter().zip(&FAULTS) {
        let program = Program::new();
        let object = format!("object_id={id}");
        let outcome = program.run(&["call", domain.to_str().unwrap(), "get_object", &object, "--route", &route]);
        let is_record = *words == RECORD;
        let start = if is_record { RECORD.to_owned() } else { URL.replace("ID", &id.to_string()) + words };
        assert!(outcome.stdout.starts_with(&start), "{fault}: {outcome:?}");
        assert_eq!(outcome.code, i32::from(!is_record), "{fault}: {outcome:?}");
    }
}

/// The block of a client that is too fast, which here outlasts all patience: no fault of the model that asked.
#[cfg(feature = "embedded")]
#[test]
fn a_block_in_the_middle_of_a_run_is_an_error_and_never_a_fail() {
    let block = "path=/public/collection/*,status=403,after=30,retry_after=3600".to_owned();
    let Some(server) = Replay::start(&[block]) else { return };
    let program = Program::new();
    let route = format!("collectionapi.metmuseum.org={0},images.metmuseum.org={0}", server.url);
    let routes: Vec<&str> = route.split(',').flat_map(|route| ["--route", route]).collect();
    let outcome = program.run(&[&["run", "met", "--mode", "loop", "--format", "json"], &routes[..]].concat());
    assert_eq!(outcome.code, 5, "{outcome:?}");
    let record: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let rules = record["verify"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["status"] != "fail"), "{rules:#?}");
    assert!(record["faults"].to_string().contains("returned HTTP 403"), "{}", record["faults"]);
}

fn ids(files: fs::ReadDir) -> Vec<u64> {
    let paths = files.map(|file| file.unwrap().path());
    let mut ids: Vec<u64> = paths.filter_map(|path: PathBuf| path.file_stem()?.to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    ids
}
