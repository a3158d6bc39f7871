//! Faults that are not the model's: a run that met one says so, and its rules end in `error`, never in `fail`. What an API
//! answers a wrong question, and what was injected on purpose, are no such faults.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use faulty::Faulty;
use program::{Outcome, Program};
use serde_json::Value;
use server::{Reply, Request, Server, answer, json};
use tempfile::TempDir;
use workbench::web::{CassetteWriter, Origin, RawAnswer};

/// A domain over a plugin that fetches. Its rehearsal reads three records, whatever becomes of them, and makes no page.
struct Trial {
    program: Program,
    home: TempDir,
}

const MANIFEST: &str = "
[domain]
name = 'trial'
title = 'Trial'
plugin = 'met'

[api]
base = 'https://api.example.org'
hosts = ['api.example.org']
pace = { gap_ms = 0 }

[task]
persona = 'You try things.'
prompt = 'Make a page.'

[evidence]
page = { html = 'page.html' }

[[verify]]
name = 'the page'
check = 'page.title == \"x\"'

[[verify]]
name = 'sums'
check = '1 + 1 == 2'
";

const POLICY: &str = "
from tools import *

for object_id in (1, 2, 3):
    try:
        get_object(object_id=object_id)
    except Exception as error:
        print(error)
";

impl Trial {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let trial = Self { program: Program::new(), home };
        fs::create_dir_all(trial.folder().join("rehearsal/code")).unwrap();
        fs::write(trial.folder().join("domain.toml"), MANIFEST).unwrap();
        fs::write(trial.folder().join("rehearsal/loop.py"), POLICY).unwrap();
        fs::write(trial.folder().join("rehearsal/code/1.py"), POLICY).unwrap();
        trial
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("trial")
    }

    fn run(&self, mode: &str, more: &[&str]) -> (Outcome, Value) {
        let folder = self.folder();
        let words = ["run", folder.to_str().unwrap(), "--mode", mode, "--format", "json"];
        let outcome = self.program.run(&[&words[..], more].concat());
        let record = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"));
        (outcome, record)
    }

    /// Records the three answers into the domain's cassette.
    fn record(&self, ids: &[u32]) {
        let mut writer = CassetteWriter::open(&self.folder().join("cassette")).unwrap();
        for id in ids {
            let answer = RawAnswer {
                url: format!("https://api.example.org/v1/objects/{id}"),
                status: 200,
                content_type: "application/json".to_owned(),
                body: format!("{{\"objectID\": {id}}}").into(),
                origin: Origin::Network,
            };
            writer.add(&answer).unwrap();
        }
        writer.save().unwrap();
    }

    fn bodies(&self) -> Vec<PathBuf> {
        let bodies = fs::read_dir(self.folder().join("cassette/bodies")).unwrap();
        bodies.map(|body| body.unwrap().path()).collect()
    }
}

/// What the run is judged, twice over: when it ended, and again from its folder.
fn check(name: &str, trial: &Trial, outcome: &Outcome, record: &Value, fault: Option<&str>) {
    let rules: Vec<(&str, &str)> = record["verify"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| (rule["name"].as_str().unwrap(), rule["status"].as_str().unwrap()))
        .collect();
    let status = if fault.is_some() { "error" } else { "fail" };
    assert_eq!(rules, [("the page", status), ("sums", "pass")], "what passed has passed: {name}: {record:#}");
    let got = record["verify"]["rules"][0]["got"].as_str().unwrap();
    assert!(got.starts_with("page.html is missing"), "{got}");
    let faults = record.get("faults").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    match fault {
        Some(text) => {
            assert!(faults[0]["text"].as_str().unwrap().contains(text), "{faults:?}");
            assert!(got.contains(" – the run met a fault that is not the model's: ") && got.contains(text), "{got}");
            assert_eq!(record["verify"]["max_points"], 1.0, "it counts in neither sum");
        }
        None => assert!(faults.is_empty(), "{name}: {faults:?}"),
    }
    let code = if fault.is_some() { 5 } else { 1 };
    assert_eq!(outcome.code, code, "{name}: {outcome:?}");

    let again = trial.program.run(&["verify", record["run"].as_str().unwrap(), "--format", "json"]);
    let verdict: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((again.code, &verdict), (code, &record["verify"]), "{again:?}");
    assert_eq!(again.stderr.contains("note: the tools of this run met faults"), fault.is_some(), "{again:?}");
}

/// Name, options, what the API answers, and the fault in the record.
type Case = (&'static str, &'static [&'static str], fn(&Request) -> Reply, Option<&'static str>);

/// The first record is good, then this happens for ever.
fn after_one(request: &Request, trouble: Reply) -> Reply {
    if request.target == "/v1/objects/1" { json("{\"objectID\": 1}") } else { trouble }
}

const LATER: &str = "retry-after: 3600";

#[test]
fn an_api_that_fails_on_the_way_is_an_error_and_never_a_fail() {
    let cases: &[Case] = &[
        ("outage", &[], |r| after_one(r, answer(503, &[LATER], b"")), Some("/v1/objects/2 returned HTTP 503")),
        ("haste", &[], |r| after_one(r, answer(429, &[LATER], b"")), Some("/v1/objects/2 returned HTTP 429")),
        ("block", &[], |r| after_one(r, answer(403, &[], b"")), Some("/v1/objects/2 returned HTTP 403")),
        ("key", &[], |r| after_one(r, answer(401, &[], b"")), Some("/v1/objects/2 returned HTTP 401")),
        ("garbage", &[], |r| after_one(r, json("{\"objectID\":")), Some("answered with broken JSON")),
        ("robot page", &[], |r| after_one(r, answer(200, &["content-type: text/html"], b"?")), Some("text/html")),
        (
            "a redirect that is not allowed",
            &[],
            |r| after_one(r, answer(302, &["location: https://evil.example/"], b"")),
            Some("redirects to https://evil.example/, which is not allowed"),
        ),
        ("an outage that passes", &[], |r| if r.number == 0 { answer(503, &[], b"") } else { json("{}") }, None),
        ("unknown", &[], |r| after_one(r, answer(404, &[], b"")), None),
        ("gone", &[], |r| after_one(r, answer(410, &[], b"")), None),
        ("a wrong question", &[], |r| after_one(r, answer(400, &[], b"")), None),
        ("injected", &["--inject", "path=*,status=503"], |r| after_one(r, json("{}")), None),
        (
            "injected, and an outage besides",
            &["--inject", "path=*/2,status=503"],
            |r| after_one(r, answer(500, &[LATER], b"")),
            Some("/v1/objects/3 returned HTTP 500"),
        ),
    ];
    for (name, options, script, fault) in cases {
        let trial = Trial::new();
        let server = Server::start(script);
        let route = format!("api.example.org={}", server.url());
        // What a script calls is served as what the model calls: one case of each kind shows it.
        let modes: &[&str] = if ["outage", "unknown"].contains(name) { &["loop", "code"] } else { &["loop"] };
        for mode in modes {
            let more = [&["--route", &route, "--fresh"], *options].concat();
            let (outcome, record) = trial.run(mode, &more);
            check(name, &trial, &outcome, &record, *fault);
        }
    }
}

#[test]
fn an_api_that_dies_is_an_error() {
    let trial = Trial::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (outcome, record) = trial.run("loop", &["--route", &format!("api.example.org=http://{closed}")]);
    check("dead", &trial, &outcome, &record, Some("/v1/objects/1 could not be reached: Connection refused"));
    assert_eq!(record["faults"].as_array().unwrap().len(), 3, "each address");
}

#[test]
fn a_cassette_that_lacks_something_is_an_error() {
    type Damage = (&'static str, fn(&Trial), Option<&'static str>);
    let damages: &[Damage] = &[
        ("whole", |trial| trial.record(&[1, 2, 3]), None),
        ("without a record", |trial| trial.record(&[1, 2]), Some("/v1/objects/3 is not recorded in the cassette")),
        (
            "without a body",
            |trial| {
                trial.record(&[1, 2, 3]);
                trial.bodies().iter().for_each(|body| fs::remove_file(body).unwrap());
            },
            Some(" is missing"),
        ),
        (
            "with bodies that were cut",
            |trial| {
                trial.record(&[1, 2, 3]);
                trial.bodies().iter().for_each(|body| fs::write(body, "{}").unwrap());
            },
            Some("is not what was recorded"),
        ),
    ];
    for (name, prepare, fault) in damages {
        let trial = Trial::new();
        prepare(&trial);
        let (outcome, record) = trial.run("loop", &[]);
        check(name, &trial, &outcome, &record, *fault);
    }
}

/// Has the tools of the trial come from a library that misbehaves, and its rehearsal call this one.
fn serve_by(plugin: &Faulty, trial: &Trial, call: &str) {
    fs::copy(plugin.library(), trial.folder().join("libfaulty.so")).unwrap();
    let manifest = MANIFEST.replace("plugin = 'met'", "library = 'libfaulty.so'");
    fs::write(trial.folder().join("domain.toml"), manifest).unwrap();
    for policy in ["rehearsal/loop.py", "rehearsal/code/1.py"] {
        fs::write(
            trial.folder().join(policy),
            format!("from tools import *\ntry:\n    {call}\nexcept Exception:\n    pass\n"),
        )
        .unwrap();
    }
}

#[test]
fn a_plugin_that_dies_is_an_error() {
    let plugin = Faulty::compiled(&[]);
    for (call, fault) in [("log()", None), ("abort()", Some("abort crashed: "))] {
        for mode in ["loop", "code"] {
            let trial = Trial::new();
            serve_by(&plugin, &trial, call);
            let (outcome, record) = trial.run(mode, &[]);
            check(call, &trial, &outcome, &record, fault);
        }
    }
}

#[test]
fn a_comparison_shows_errors_apart() {
    let trial = Trial::new();
    let server = Server::start(|_| answer(503, &[LATER], b""));
    let (folder, route) = (trial.folder(), format!("api.example.org={}", server.url()));
    let words = ["compare", folder.to_str().unwrap(), "--modes", "loop,code", "--runs", "2", "--route", &route];
    let outcome = trial.program.run(&[&words[..], &["--format", "json", "--require", "code"]].concat());
    assert_eq!(outcome.code, 1, "an error is not verified: {outcome:?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    for mode in report["modes"].as_array().unwrap() {
        assert_eq!((&mode["n"], &mode["passed"], &mode["errors"]), (&0.into(), &0.into(), &2.into()), "{mode:#}");
    }
    let outcome = trial.program.run(&["report", "trial", "--require", "loop"]);
    assert_eq!(outcome.code, 1);
    let said = "undecided: the page (got page.html is missing – the run met a fault that is not the model's: \
                https://api.example.org/v1/objects/1 returned HTTP 503), in 2 runs";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("fell short"), "{}", outcome.stdout);

    let run = report["runs"][0]["run"].as_str().unwrap();
    let told = trial.program.run(&["show", run]).stdout;
    assert!(
        told.contains("\nfaults that are not the model's\n  https://api.example.org/v1/objects/1 returned HTTP 503\n"),
        "{told}"
    );
}

/// Only the program may make a run undecided, and only by what it saw: words in a folder that was handed in win nothing.
#[test]
fn faults_that_were_written_by_hand_verify_nothing() {
    let trial = Trial::new();
    trial.record(&[1, 2, 3]);
    let (_, record) = trial.run("loop", &[]);
    let run = record["run"].as_str().unwrap();
    let path = trial.program.results().join("trial").join(run).join("run.json");
    let mut forged: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    forged["faults"] = serde_json::json!([{"text": "the dog ate it", "count": 1}]);
    write(&path, &forged);
    let outcome = trial.program.run(&["verify", run]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert!(
        outcome.stdout.contains("not verified: 1 of 1 points") && outcome.stdout.contains("the dog ate it"),
        "{outcome:?}"
    );
}

fn write(path: &Path, value: &Value) {
    fs::write(path, serde_json::to_vec(value).unwrap()).unwrap();
}
