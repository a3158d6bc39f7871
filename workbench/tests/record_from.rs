//! `record --from`: a run's rehearsal and cassette, from which the same task runs again with the same calls.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/museum.rs"]
mod museum;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/recorded.rs"]
mod recorded;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};

use museum::{Museum, content, litter};
use program::{Outcome, finish};
use recorded::{calls, messages, read, results, task, words, written};
use serde_json::{Value, json};
use workbench::results::store::read_ledger;

/// As a model works: calls together and alone, a tool that does not exist, arguments that do not fit, one of every kind.
const POLICY: &str = r#"
import asyncio
from tools.aio import *
from tools.aio import _call as call

async def main():
    mistakes = [
        call("get_objekt", {"object_id": [1, None, True, -2.5, "ü\n\\\"'"]}),
        call("get_object", {"object_id": "one"}),
        call("get_object", {"object_id": 1, "colour": None}),
        call("get_object", {}),
    ]
    await asyncio.gather(get_object(3), *mistakes, return_exceptions=True)
    for i in (1, 2, 3):
        await download_image(i)
    await build_gallery("page", "Three \"pieces\"", [1, 2, 3])
    print("Three pieces.\n\"Done\" – all of them.")

asyncio.run(main())
"#;

/// A museum, its results, and a copy of it that has neither rehearsal nor cassette.
struct Trial {
    museum: Museum,
    results: PathBuf,
    copy: PathBuf,
}

impl Trial {
    fn new() -> Self {
        let museum = Museum::open();
        fs::write(museum.domain().join("rehearsal/loop.py"), POLICY).unwrap();
        let results = museum.results("mine");
        let copy = museum.home().join("copy/museum");
        fs::create_dir_all(&copy).unwrap();
        fs::copy(museum.domain().join("domain.toml"), copy.join("domain.toml")).unwrap();
        Self { museum, results, copy }
    }

    /// Makes a run on the museum's own API and returns its folder.
    fn run(&self, mode: &str) -> PathBuf {
        let outcome = finish(&mut self.museum.command(&self.results, "run", &["--mode", mode, "--format", "json"]), "");
        self.folder(&outcome)
    }

    fn folder(&self, outcome: &Outcome) -> PathBuf {
        let record: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
        self.results.join("museum").join(record["run"].as_str().unwrap())
    }

    fn record(&self, run: &Path, more: &[&str]) -> Outcome {
        let words = ["record", self.copy.to_str().unwrap(), "--from", run.to_str().unwrap()];
        let route = self.museum.route();
        let source = if more.contains(&"--route") { &[][..] } else { &["--route", route.as_str()] };
        self.museum.outcome(&self.results, &[&words[..], source, more].concat())
    }

    /// Makes a run on the copy, from its cassette.
    fn repeated(&self, mode: &str) -> PathBuf {
        let words = ["run", self.copy.to_str().unwrap(), "--mode", mode, "--format", "json"];
        self.folder(&self.museum.outcome(&self.results, &words))
    }
}

/// What was called on each turn, and with what, in the order in which it was asked for.
fn asked(run: &Path) -> Vec<Vec<Value>> {
    let said = messages(run).into_iter().filter(|message| message["role"] == "assistant");
    let turns = said.map(|message| {
        let blocks = message["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
        blocks.map(|block| json!([block["name"], block["input"]])).collect()
    });
    turns.collect()
}

/// What scripts called, in any order.
fn nested(run: &Path) -> Vec<String> {
    let ledger = read_ledger(run).unwrap();
    let mut calls: Vec<String> = ledger
        .iter()
        .map(|call| format!("{} {:?} {} {} {:?}", call.turn, call.script, call.tool, call.arguments, call.outcome))
        .collect();
    calls.sort();
    calls
}

#[test]
fn a_recorded_run_is_rehearsed_with_the_same_calls_and_verdict() {
    let trial = Trial::new();
    for (mode, tells) in [("loop", "9 calls of "), ("code", "2 scripts of ")] {
        let run = trial.run(mode);
        let outcome = trial.record(&run, &[]);
        assert!(outcome.code == 0 && outcome.stderr.contains(tells), "{outcome:?}");
        assert_eq!(litter(&trial.results), Vec::<PathBuf>::new());
        let asked_before = trial.museum.requests();
        let again = trial.repeated(mode);
        assert_eq!(trial.museum.requests(), asked_before, "everything is in the cassette");
        assert_eq!(asked(&again), asked(&run), "{mode}");
        assert_eq!(nested(&again), nested(&run), "{mode}");
        let (old, new) = (read(&run.join("run.json")), read(&again.join("run.json")));
        for field in ["verify", "per_turn", "final_text", "stop", "tool_calls", "nested_calls"] {
            assert_eq!(old[field], new[field], "{mode}: {field}");
        }
        assert_eq!((&old["verify"]["ok"], &new["source"]), (&json!(true), &json!("cassette")));
        for (name, bytes) in content(&run.join("out")) {
            let name = name.file_name().unwrap();
            assert!(fs::read(again.join("out").join(name)).unwrap() == bytes, "{name:?}");
        }
    }
    // One call a turn, of a run that was made so.
    let serial = trial.run("serial");
    fs::remove_file(trial.copy.join("rehearsal/loop.py")).unwrap();
    let outcome = trial.record(&serial, &[]);
    assert!(outcome.code == 0 && outcome.stderr.contains("\n0 answers added to "), "{outcome:?}");
    for mode in ["serial", "loop"] {
        assert_eq!(asked(&trial.repeated(mode)), asked(&serial), "{mode}");
    }
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let trial = Trial::new();
    let run = trial.run("code");
    let to = trial.museum.home().join("elsewhere");
    assert_eq!(trial.record(&run, &["--to", to.to_str().unwrap()]).code, 0);
    assert!(!trial.copy.join("rehearsal").exists() && !trial.copy.join("cassette").exists());
    let before = content(&to);
    assert!(before.contains_key(&to.join("rehearsal/code/2.py")), "{:?}", before.keys());

    let outcome = trial.record(&run, &["--to", to.to_str().unwrap()]);
    let told = format!("{} is there already, and is not overwritten\nhint: ", to.join("rehearsal/code").display());
    assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{outcome:?}");
    assert!(content(&to) == before);

    // Of an address that is recorded otherwise the recorded answer stays.
    let index = to.join("cassette/index.jsonl");
    let text = fs::read_to_string(&index).unwrap();
    fs::write(to.join("cassette/bodies/ours.json"), "{\"objectID\":4}").unwrap();
    let line = text.lines().find(|line| line.contains("/v1/objects/4\"")).unwrap();
    let ours = r#"{"url":"https://api.example/v1/objects/4","status":200,"content_type":"application/json","body":"ours.json"}"#;
    let kept: String =
        text.lines().filter(|other| !other.contains("/v1/objects/2\"")).map(|line| format!("{line}\n")).collect();
    fs::write(&index, kept.replace(line, ours)).unwrap();
    fs::remove_dir_all(to.join("rehearsal")).unwrap();
    let outcome = trial.record(&run, &["--to", to.to_str().unwrap()]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("1 answer added to "), "{outcome:?}");
    let told = "warning: 1 answer of the run recorded otherwise there, and left as it is there; the first is https://api.example/v1/objects/4";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
    let text = fs::read_to_string(&index).unwrap();
    assert!(text.contains("ours.json") && text.contains("/v1/objects/2\""), "{text}");

    let outcome = trial.record(&run, &["--urls", "list.txt"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("cannot be used with"), "{outcome:?}");
}

/// Mode, how the run stopped, what was said in it, what is told of the recording, and the files it makes.
type Partial = (&'static str, &'static str, Vec<Value>, &'static [&'static str], &'static [&'static str]);

#[test]
fn what_was_not_made_is_left_out_and_told() {
    let trial = Trial::new();
    let standin = program::workspace().join("workbench/tests/domains/standin");
    let cut = "ERROR: not run: your answer was cut off at 4096 tokens, in the middle of this call. Say it shorter.";
    let refused = "ERROR: not run";
    let script = |code: &str| calls(&[("run_python", json!({ "code": code }))]);
    let table: &[Partial] = &[
        (
            "loop",
            "end_turn",
            vec![
                task(),
                calls(&[("noop", json!({"x": 1})), ("noop", json!({}))]),
                results(&[("1", false), (cut, true)]),
                words("done"),
            ],
            &["1 call of ", "note: 1 call left out: "],
            &["loop.py"],
        ),
        (
            "loop",
            "interrupted",
            vec![task(), calls(&[("noop", json!({"x": 1})), ("noop", json!([5]))])],
            &[
                "1 call of ",
                "note: 1 call left out: ",
                "did not come to its end",
                "fetched nothing that could be recorded",
            ],
            &["loop.py"],
        ),
        (
            "code",
            "end_turn",
            vec![
                task(),
                script("print(1)"),
                results(&[("1\n", false)]),
                calls(&[("run", json!({}))]),
                results(&[(refused, true)]),
                script("print(2)\r\n"),
                results(&[("2\n", false)]),
            ],
            &["2 scripts of ", "note: 1 call left out: ", "warning: results are not as in the run, those of 1 call;"],
            &["code/1.py", "code/2.py"],
        ),
        ("loop", "end_turn", vec![task(), words("done")], &["asked for nothing that can be rehearsed"], &[]),
    ];
    for (number, (mode, stop, said, told, files)) in table.iter().enumerate() {
        let run = written(&trial.results, &format!("case-{number}"), mode, stop, said);
        let to = trial.museum.home().join(format!("to-{number}"));
        let words =
            ["record", standin.to_str().unwrap(), "--from", run.to_str().unwrap(), "--to", to.to_str().unwrap()];
        let outcome = trial.museum.outcome(&trial.results, &words);
        assert_eq!(outcome.code, if files.is_empty() { 2 } else { 0 }, "{number}: {outcome:?}");
        assert!(told.iter().all(|text| outcome.stderr.contains(text)), "{number}: {outcome:?}");
        let made: Vec<PathBuf> = content(&to).into_keys().collect();
        let expected: Vec<PathBuf> = files.iter().map(|file| to.join("rehearsal").join(file)).collect();
        assert_eq!(made, expected, "{number}");
    }
    assert_eq!(fs::read(trial.museum.home().join("to-2/rehearsal/code/2.py")).unwrap(), b"print(2)\r\n");
}

/// A rehearsal with all its calls and the answers of few would fail where the run went well.
#[test]
fn a_run_beyond_the_domains_limits_is_not_recorded_in_part() {
    let trial = Trial::new();
    let run = trial.run("loop");
    let manifest = trial.copy.join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, format!("{text}\n[limits]\nloop_turns = 2\n")).unwrap();
    let outcome = trial.record(&run, &[]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let told = "its replay was ended after turn 2 of ";
    assert!(outcome.stderr.contains(told) && outcome.stderr.contains("hint: raise that limit"), "{outcome:?}");
    assert!(!trial.copy.join("rehearsal").exists() && !trial.copy.join("cassette").exists());
    assert_eq!(litter(&trial.results), Vec::<PathBuf>::new());
    fs::write(&manifest, text).unwrap();
    assert_eq!(trial.record(&run, &[]).code, 0);
}

/// Whatever a run is called, and whatever its model said, it is data in the script.
#[test]
fn words_of_a_run_are_no_code() {
    let trial = Trial::new();
    let standin = program::workspace().join("workbench/tests/domains/standin");
    let evil = "\"\"\"\n\\\"); import os\u{2028}#{}\u{0}é";
    let said = [task(), calls(&[("noop", json!({ "x": evil, evil: {} }))]), results(&[("null", false)]), words(evil)];
    let run = written(&trial.results, "case", "loop", "end_turn", &said);
    recorded::change_record(&run, |record| {
        record["final_text"] = json!(evil);
        record["model"] = json!(evil);
    });
    let to = trial.museum.home().join("standin");
    let words = ["record", standin.to_str().unwrap(), "--from", run.to_str().unwrap(), "--to", to.to_str().unwrap()];
    assert_eq!(trial.museum.outcome(&trial.results, &words).code, 0);
    fs::copy(standin.join("domain.toml"), to.join("domain.toml")).unwrap();
    let words = ["run", to.to_str().unwrap(), "--mode", "loop", "--format", "json"];
    let outcome = trial.museum.outcome(&trial.results, &words);
    let record: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
    assert_eq!((&record["stop"], record["final_text"].as_str().unwrap()), (&json!("end_turn"), evil));
    let again = trial.results.join("standin").join(record["run"].as_str().unwrap());
    assert_eq!(asked(&again), asked(&run));
}
