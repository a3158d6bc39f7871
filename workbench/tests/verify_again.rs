//! Verdicts repeated, and completed, from a run's folder: through the real program, with an API on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use program::{Outcome, Program, finish, workspace};
use serde_json::Value;
use server::{Server, answer, json};

/// A domain that is known by its path alone; its rules need two records of an API that wants a key at first.
struct Trial {
    program: Program,
    home: tempfile::TempDir,
    server: Server,
    open: Arc<AtomicBool>,
}

const RULES: &str = "
[api]
base = 'https://api.example.org'
hosts = ['api.example.org']
headers = { x-home = 'env:HOME' }

[evidence]
first = { get = '/records/1' }
second = { get = '/records/2' }

[[verify]]
name = 'both are there'
check = 'first.id + second.id == 3'
";

impl Trial {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("trial");
        fs::create_dir_all(folder.join("rehearsal")).unwrap();
        let standin = workspace().join("workbench/tests/domains/standin/domain.toml");
        let manifest = fs::read_to_string(standin).unwrap().replace("name = \"standin\"", "name = \"trial\"");
        fs::write(folder.join("domain.toml"), manifest + RULES).unwrap();
        fs::write(folder.join("rehearsal/loop.py"), "print('done')").unwrap();
        let open = Arc::new(AtomicBool::new(false));
        let is_open = Arc::clone(&open);
        let server = Server::start(move |request| match request.target.as_str() {
            "/records/1" => json("{\"id\": 1}"),
            "/records/2" if is_open.load(Ordering::SeqCst) => json("{\"id\": 2}"),
            _ => answer(401, &["content-type: application/json"], b"{\"message\": \"who are you?\"}"),
        });
        Self { program: Program::new(), home, server, open }
    }

    fn route(&self) -> String {
        format!("api.example.org={}", self.server.url())
    }

    /// Makes a run and returns its folder.
    fn run(&self, more: &[&str]) -> PathBuf {
        let domain = self.home.path().join("trial");
        let route = self.route();
        let words = ["run", domain.to_str().unwrap(), "--mode", "loop", "--format", "json", "--route", &route];
        let outcome = self.program.run(&[&words[..], more].concat());
        let record: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
        self.program.results().join("trial").join(record["run"].as_str().unwrap())
    }

    fn verify(&self, run: &Path, more: &[&str]) -> Outcome {
        self.program.run(&[&["verify", run.to_str().unwrap()], more].concat())
    }
}

fn evidence(run: &Path) -> String {
    fs::read_to_string(run.join("evidence.json")).unwrap()
}

#[test]
fn a_verdict_is_repeated_from_the_runs_folder_alone() {
    let trial = Trial::new();
    trial.open.store(true, Ordering::SeqCst);
    let run = trial.run(&[]);
    let asked = trial.server.requests().len();
    // Neither the domain nor the API is needed any more.
    fs::remove_dir_all(trial.home.path().join("trial")).unwrap();

    assert_eq!(trial.verify(&run, &[]).code, 0);
    assert_eq!(trial.verify(&run, &["--route", &trial.route()]).code, 0, "nothing is missing, so nothing is asked for");
    assert_eq!(trial.server.requests().len(), asked);

    let copy = fs::read_to_string(run.join("domain.toml")).unwrap();
    fs::write(run.join("domain.toml"), copy.replace("== 3", "== 4")).unwrap();
    let outcome = trial.verify(&run, &[]);
    assert_eq!(outcome.code, 1, "the copy is what counts: {outcome:?}");
    fs::remove_file(run.join("domain.toml")).unwrap();
    let outcome = trial.verify(&run, &[]);
    assert!(outcome.code == 2 && outcome.stderr.contains("domain.toml could not be read"), "{outcome:?}");
}

#[test]
fn what_failed_is_asked_for_again_and_kept() {
    let trial = Trial::new();
    let run = trial.run(&[]);
    let before = evidence(&run);
    assert!(before.contains("HTTP 401: who are you?"), "{before}");

    let outcome = trial.verify(&run, &[]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert!(outcome.stderr.contains("missing answers of the API: 1; the first is /records/2: "), "{outcome:?}");
    assert!(outcome.stderr.contains("--again` asks for them where the run got its data (api.example.org="));
    assert_eq!(evidence(&run), before, "files alone never change the evidence");
    let route = ["--route", &trial.route()];
    assert_eq!(trial.verify(&run, &route).code, 5, "it is still refused");

    trial.open.store(true, Ordering::SeqCst);
    let asked = trial.server.requests().len();
    let outcome = trial.verify(&run, &route);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let new = trial.server.requests().split_off(asked);
    assert_eq!(new.iter().map(|request| request.target.as_str()).collect::<Vec<_>>(), ["/records/2"]);
    assert_eq!(new[0].header("x-home"), None, "a copy of a manifest reads no variables of this environment");
    assert_eq!(trial.verify(&run, &[]).code, 0, "what was fetched is kept");
}

/// The run may have been handed in, and its author may have written where its data came from.
#[test]
fn nothing_is_asked_where_only_a_run_says() {
    let trial = Trial::new();
    trial.open.store(true, Ordering::SeqCst);
    let run = trial.run(&[]);
    fs::write(trial.home.path().join("Cargo.toml"), "").unwrap();
    fs::create_dir_all(trial.home.path().join("domains/trial")).unwrap();
    let manifest = "trial/domain.toml";
    fs::copy(trial.home.path().join(manifest), trial.home.path().join("domains").join(manifest)).unwrap();
    fs::remove_file(run.join("evidence.json")).unwrap();
    let verify = |more: &[&str]| {
        let asked = trial.server.requests().len();
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.arg("verify").arg(&run).args(more).current_dir(trial.home.path());
        let outcome = finish(command.env("WORKBENCH_RESULTS", trial.program.results()), "");
        (outcome, trial.server.requests().split_off(asked))
    };
    for more in [&["--again"][..], &["--fresh"], &["--offline"], &["--again", "--rules", "workspace"]] {
        let (outcome, asked) = verify(more);
        let told =
            format!("says that its data came from {}, and may have been handed in\nhint: `--route", trial.route());
        assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{more:?}: {outcome:?}");
        assert_eq!(asked.len(), 0, "{more:?}");
        assert!(!run.join("evidence.json").exists(), "{more:?}");
    }
    // Where we say, our headers go along.
    let (outcome, asked) = verify(&["--fresh", "--route", &trial.route()]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(asked.iter().filter(|request| request.header("x-home").is_some()).count(), 2, "{asked:?}");
}

#[test]
fn a_run_without_evidence_says_so_and_can_be_completed() {
    let trial = Trial::new();
    trial.open.store(true, Ordering::SeqCst);
    let run = trial.run(&[]);
    fs::remove_file(run.join("evidence.json")).unwrap();

    let outcome = trial.verify(&run, &[]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert!(outcome.stderr.contains("held no evidence.json"), "{outcome:?}");
    assert!(outcome.stderr.contains("missing answers of the API: 2"), "{outcome:?}");
    assert!(!run.join("evidence.json").exists());

    let outcome = trial.verify(&run, &["--route", &trial.route()]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(run.join("evidence.json").exists());
}

#[test]
fn injected_faults_are_for_tools_only() {
    let trial = Trial::new();
    let run = trial.run(&["--inject", "path=/records/1,status=401,message=closed, for now"]);
    trial.open.store(true, Ordering::SeqCst);
    let outcome = trial.verify(&run, &["--inject", "path=*,status=401"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("`--inject` is for tools"), "{outcome:?}");
    assert_eq!(trial.verify(&run, &["--route", &trial.route()]).code, 0, "the run's faults are not repeated");
}
