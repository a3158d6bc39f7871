//! `replay` of real runs, through the real program: nothing differs, or what does is listed.
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
use recorded::{change_record, read, replace};
use serde_json::{Value, json};
use server::{Server, answer};

/// A museum, and a run of it in each mode.
struct Trial {
    museum: Museum,
    results: PathBuf,
}

impl Trial {
    fn new() -> Self {
        let museum = Museum::open();
        let results = museum.results("mine");
        Self { museum, results }
    }

    /// Makes a run and returns its folder.
    fn run(&self, mode: &str, more: &[&str]) -> PathBuf {
        let words = [&["--mode", mode, "--format", "json"], more].concat();
        let outcome = finish(&mut self.museum.command(&self.results, "run", &words), "");
        let record: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
        self.results.join("museum").join(record["run"].as_str().unwrap())
    }

    fn replay(&self, run: &Path, more: &[&str]) -> Outcome {
        let domain = self.museum.domain();
        let words = ["replay", run.to_str().unwrap(), "--domain", domain.to_str().unwrap()];
        let route = self.museum.route();
        let source = if more.contains(&"--route") { &[][..] } else { &["--route", route.as_str()] };
        self.museum.outcome(&self.results, &[&words[..], source, more].concat())
    }

    /// What a replay printed, without what is of this time and place.
    fn shown(&self, run: &Path, outcome: &Outcome) -> String {
        let name = run.file_name().unwrap().to_str().unwrap();
        outcome.stdout.replace(name, "RUN").replace(&self.museum.route(), "ROUTE")
    }
}

#[test]
fn nothing_differs_in_any_mode() {
    let trial = Trial::new();
    let mut shown = String::new();
    for mode in ["serial", "loop", "code"] {
        let run = trial.run(mode, &[]);
        let before = content(&trial.results.join("museum"));
        let outcome = trial.replay(&run, &[]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        shown.push_str(&trial.shown(&run, &outcome));
        assert!(content(&trial.results.join("museum")) == before, "a replay leaves nothing and changes nothing");
        assert_eq!(litter(&trial.results), Vec::<PathBuf>::new());
        let audit: Value = serde_json::from_str(&trial.replay(&run, &["--format", "json"]).stdout).unwrap();
        assert_eq!((&audit["same"], &audit["kept"]), (&json!(true), &Value::Null), "{audit:#}");
    }
    insta::assert_snapshot!(shown);
}

/// Mode, what is changed in the run, and what is told of it.
type Change = (&'static str, fn(&Path), &'static [&'static str]);

#[rustfmt::skip]
const CHANGES: &[Change] = &[
    ("loop", |run| replace(run, "transcript.jsonl", r#"Piece 2\""#, r#"Piece two\""#),
        &["turn 1, call 2: get_object {\"object_id\":2}\n  differs after 29 letters\n", "Piece two\"", "Piece 2\"", "different: 1 of 7 results of 4 turns\n"]),
    ("loop", |run| replace(run, "transcript.jsonl", r#""tool_use_id":"call_1""#, r#""is_error":true,"tool_use_id":"call_1""#),
        &["record  (an error) {", "now     (no error) {", "different: 1 of 7 results"]),
    ("serial", |run| replace(run, "transcript.jsonl", r#"Piece 3\""#, r#"Piece 3é\""#), &["turn 3, call 1: get_object", "differs after 30 letters"]),
    ("code", |run| replace(run, "transcript.jsonl", "KeyError", "ValueError"), &["turn 1, call 1: run_python", "different: 1 of 2 results"]),
    ("code", |run| replace(run, "transcript.jsonl", "Piece 4", "All is well\\nPiece 4"), &["All is well⏎Piece 4", "different: 1 of 2 results"]),
    ("loop", |run| replace(run, "out/page.html", "Three", "Four"), &["\nout/page.html has other bytes\n", "different: 0 of 7 results of 4 turns, 1 file\n"]),
    ("loop", |run| fs::remove_file(run.join("out/1.jpg")).unwrap(), &["\nout/1.jpg is in the replay only\n"]),
    ("code", |run| fs::write(run.join("out/answer.txt"), "42").unwrap(), &["\nout/answer.txt is in the record only\n"]),
    ("code", |run| change_record(run, |record| record["verify"]["rules"][1]["got"] = json!(["A", "B"])),
        &["the verdict differs: verified with 2 of 2 points in the record, verified with 2 of 2 points now", "of three departments: pass ([\"A\",\"B\"]) in the record, pass ([\"Department 1\"", "0 of 2 results of 3 turns, the verdict\n"]),
    ("code", |run| change_record(run, |record| record["verify"]["points"] = json!(3)), &["verified with 3 of 2 points in the record"]),
    ("code", |run| change_record(run, |record| record["verify"] = Value::Null), &["not judged in the record, verified with 2 of 2 points now"]),
];

#[test]
fn what_differs_is_listed() {
    let trial = Trial::new();
    let made = ["serial", "loop", "code"].map(|mode| (mode, trial.run(mode, &[])));
    let mut wrong = Vec::new();
    for (number, (mode, change, told)) in CHANGES.iter().enumerate() {
        let (_, original) = made.iter().find(|(known, _)| known == mode).unwrap();
        let run = trial.museum.home().join(format!("handed-in-{number}"));
        copy(original, &run);
        change(&run);
        let outcome = trial.replay(&run, &[]);
        if outcome.code != 1 || told.iter().any(|text| !outcome.stdout.contains(text)) {
            wrong.push(format!("{number}: {told:?}\n{outcome:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in content(from) {
        let place = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, bytes).unwrap();
    }
}

#[test]
fn an_api_that_answers_otherwise_now_is_told() {
    let trial = Trial::new();
    let run = trial.run("loop", &[]);
    let today = Server::start(|request| match request.target.strip_prefix("/v1/objects/") {
        Some(id) => server::json(&format!(
            r#"{{"objectID":{id},"title":"Piece {id}","department":"Department 1","isPublicDomain":true,
            "primaryImageSmall":"https://api.example/{id}.jpg","creditLine":""}}"#
        )),
        None => answer(200, &["content-type: image/jpeg"], &[7; 100]),
    });
    let route = format!("api.example={}", today.url());
    let outcome = trial.replay(&run, &["--route", &route]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("note: the data came over the network, and an API changes"), "{outcome:?}");
    insta::assert_snapshot!(trial.shown(&run, &outcome).replace(&route, "OTHER"));

    // An API that turns everybody away says nothing about the run.
    let closed =
        Server::start(|_| answer(401, &["content-type: application/json"], b"{\"message\": \"who are you?\"}"));
    let outcome = trial.replay(&run, &["--route", &format!("api.example={}", closed.url()), "--format", "json"]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert!(outcome.stderr.contains("faults that are not the run's") && outcome.stderr.contains("HTTP 401"));
    let audit: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(audit["differences"].as_array().unwrap().len(), 7, "{audit:#}");
    assert_eq!(audit["verdict"]["replayed"]["rules"][0]["status"], "error");
}

#[test]
fn faults_that_were_injected_are_injected_again() {
    let trial = Trial::new();
    let fault = ["--inject", "path=/v1/objects/2,status=404,message=No such piece, sorry"];
    for (mode, results) in [("loop", "3 results of 1 turn"), ("code", "2 results of 3 turns")] {
        let run = trial.run(mode, &fault);
        let outcome = trial.replay(&run, &[]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stdout.contains(&format!("same: {results}")), "{outcome:?}");
        let outcome = trial.replay(&run, &["--inject", "path=/v1/objects/3,status=404"]);
        assert_eq!(outcome.code, 1, "others in their place: {outcome:?}");
        replace(&run, "run.json", "No such piece, sorry", "a, inject b");
        let outcome = trial.replay(&run, &[]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains("injected into the run cannot be told apart: `b` is not an injection"));
    }
}

/// A run may come from somebody who wants more than a good mark.
#[test]
fn what_a_run_names_is_neither_loaded_nor_trusted() {
    let trial = Trial::new();
    let manifest = trial.museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let run = trial.run("loop", &[]);
    fs::write(&manifest, text.replace("[api]\n", "[api]\nheaders = { x-home = 'env:HOME' }\n")).unwrap();

    // The library it names does not exist: who loads it fails.
    replace(&run, "domain.toml", "plugin = \"met\"", "library = \"/nowhere/evil.so\"");
    // Where it sends requests, our secrets do not go.
    let theirs = Server::start(|_| answer(404, &["content-type: application/json"], b"{}"));
    replace(&run, "run.json", &trial.museum.route(), &format!("api.example={}", theirs.url()));
    let (place, domain) = (run.to_str().unwrap(), trial.museum.domain());
    let words = ["replay", place, "--domain", domain.to_str().unwrap()];
    let outcome = trial.museum.outcome(&trial.results, &words);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("may have been handed in"), "{outcome:?}");
    assert_eq!(theirs.requests().len(), 0, "nothing is asked where only the run says");
    // Ours go where we say.
    let ours = Server::start(|_| answer(404, &["content-type: application/json"], b"{}"));
    trial.replay(&run, &["--route", &format!("api.example={}", ours.url())]);
    assert!(ours.requests().iter().any(|request| request.header("x-home").is_some()));

    // Nor does it get more than the domain grants.
    let run = trial.run("code", &[]);
    change_record(&run, |record| {
        record["limits"]["script_memory_mb"] = json!(1_u64 << 40);
        record["limits"]["script_seconds"] = json!(7);
        record["limits"]["tool_calls"] = json!(1_u64 << 60);
    });
    let outcome = trial.replay(&run, &["--keep", "--format", "json"]);
    let told = "the run had tool_calls 1152921504606846976, not 2000, script_memory_mb 1099511627776, not 512";
    assert!(outcome.code == 0 && outcome.stderr.contains(told), "{outcome:?}");
    let kept: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let record = read(&Path::new(kept["kept"].as_str().unwrap()).join("run.json"));
    assert_eq!(record["limits"]["script_memory_mb"], 512);
    assert_eq!(record["limits"]["script_seconds"], 7);
}

/// The rules of a handed-in run may be its author's.
#[test]
fn the_runs_own_rules_judge_unless_ours_are_wanted() {
    let trial = Trial::new();
    let run = trial.run("code", &[]);
    replace(&run, "domain.toml", "ids|length == 3", "ids|length >= 0");
    let outcome = trial.replay(&run, &[]);
    assert!(outcome.code == 0 && outcome.stderr.contains("judged by the rules kept with the run"), "{outcome:?}");
    let manifest = trial.museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("ids|length == 3", "ids|length == 4").replace("Show three", "Show 3")).unwrap();
    let outcome = trial.replay(&run, &["--rules", "workspace"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stdout.contains("three pieces: pass ([1,2,3]) in the record, fail ([1,2,3]) now"), "{outcome:?}");
    assert!(outcome.stderr.contains("is not worded as it was in the run"), "{outcome:?}");

    // A replay that is kept says by which rules it was judged, and what task its words answered.
    for (rules, same) in [("run", &["task", "tools"][..]), ("workspace", &["evidence", "task", "tools"])] {
        let outcome = trial.replay(&run, &["--rules", rules, "--keep", "--format", "json"]);
        let audit: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
        let kept = read(&Path::new(audit["kept"].as_str().unwrap()).join("run.json"));
        let (old, new) = (read(&run.join("run.json"))["fingerprint"].clone(), &kept["fingerprint"]);
        for part in same {
            assert_eq!(old[part], new[part], "{rules} {part}");
        }
        assert_ne!(old["rules"], new["rules"], "{rules}: neither are those the run was judged by");
    }
}

/// What is changed in the manifest of the museum, whose plugin is in Rust, and whether its tools are others then.
#[test]
fn tools_that_are_others_now_are_told() {
    let trial = Trial::new();
    let run = trial.run("loop", &[]);
    let manifest = trial.museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let told = "are not those that the run called: what differs may come from that\n";
    for (change, others) in
        [("# The museum.\nbase = \"https://api.example\"", false), ("base = \"https://api.example/v2\"", true)]
    {
        fs::write(&manifest, text.replace("base = \"https://api.example\"", change)).unwrap();
        let outcome = trial.replay(&run, &[]);
        assert_eq!(outcome.stderr.contains(told), others, "{change}: {outcome:?}");
    }
}

/// A domain of notes with these declared tools.
fn notes(tools: &[(&str, &str)]) -> String {
    let mut text = "[domain]\nname = 'notes'\ntitle = 'Notes'\nplugin = 'http'\n\
        [task]\npersona = 'You write.'\nprompt = 'Write.'\n"
        .to_owned();
    for (name, description) in tools {
        text += &format!(
            "[[tool]]\nname = '{name}'\ndescription = '{description}'\n\
             arguments.text = {{ type = 'string', description = 'The words.' }}\n\
             save_text = {{ text = '{{text}}', save = 'note.md' }}\n"
        );
    }
    text + "[evidence]\nnote = { text = 'note.md' }\n[[verify]]\nname = 'a note'\ncheck = 'note|length > 1'\n"
}

/// Declared tools now, in the place of `keep_note` and `add_note`, and what is told of them.
#[test]
fn declared_tools_that_are_others_now_are_named() {
    let trial = Trial::new();
    let folder = trial.museum.home().join("notes");
    fs::create_dir_all(folder.join("rehearsal/code")).unwrap();
    fs::write(folder.join("rehearsal/code/1.py"), "from tools import *\nprint(keep_note('Hello'))\n").unwrap();
    let (keep, add) = (("keep_note", "Keeps a note."), ("add_note", "Adds a note."));
    fs::write(folder.join("domain.toml"), notes(&[keep, add])).unwrap();
    let place = folder.to_str().unwrap();
    let made = trial.museum.outcome(&trial.results, &["run", place, "--mode", "code", "--format", "json"]);
    let made: Value = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{made:?}"));
    let run = trial.results.join("notes").join(made["run"].as_str().unwrap());
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[keep, add], ""),
        (&[("keep_note", "Keeps your note."), add], " (declared otherwise: keep_note)"),
        (&[keep, ("put_note", "Puts a note.")], " (in the run only: add_note; here only: put_note)"),
        (&[add, keep], ""),
    ];
    for with_fingerprint in [true, false] {
        if !with_fingerprint {
            change_record(&run, |record| _ = record.as_object_mut().unwrap().remove("fingerprint"));
        }
        for (number, (tools, told)) in table.iter().enumerate() {
            fs::write(folder.join("domain.toml"), notes(tools)).unwrap();
            let outcome = trial.museum.outcome(&trial.results, &["replay", run.to_str().unwrap(), "--domain", place]);
            assert_eq!(outcome.code, 0, "{tools:?}: {outcome:?}");
            let told = format!("are not those that the run called{told}: what");
            // Another order shows in the fingerprint alone.
            let expected = number > 0 && (number < 3 || with_fingerprint);
            assert_eq!(outcome.stderr.contains(&told), expected, "{tools:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_replay_is_kept_as_a_run_that_says_what_it_is() {
    let trial = Trial::new();
    let run = trial.run("loop", &[]);
    let name = run.file_name().unwrap().to_str().unwrap();
    let outcome = trial.replay(&run, &["--keep", "--format", "json"]);
    let first: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
    let kept = PathBuf::from(first["kept"].as_str().unwrap());
    let (old, new) = (read(&run.join("run.json")), read(&kept.join("run.json")));
    for figure in
        ["per_turn", "tokens_read", "input_tokens", "output_tokens", "estimated", "verify", "final_text", "stop"]
    {
        assert_eq!(old[figure], new[figure], "{figure}");
    }
    assert_eq!(new["model"], format!("replay:{name}"));
    assert_eq!(new["settings"], json!({"said by": "rehearsal"}));
    assert_eq!((&new["cost_usd"], &new["rehearsal_of"]), (&Value::Null, &Value::Null));
    let mut measured = old["fingerprint"].clone();
    assert!(measured.as_object_mut().unwrap().remove("rehearsal").is_some(), "{old:#}");
    assert_eq!(new["fingerprint"], measured, "it is of the same task, tools and rules");

    // Another verdict from the files of the replay alone, and a replay of the replay.
    assert_eq!(trial.museum.outcome(&trial.results, &["verify", kept.to_str().unwrap()]).code, 0);
    let outcome = trial.replay(&kept, &[]);
    assert!(outcome.code == 0 && outcome.stdout.contains(" · said by rehearsal · "), "{outcome:?}");

    let report = trial.museum.outcome(&trial.results, &["report", "museum"]).stdout;
    let words = format!("replay of {name}: what rehearsal said there was said again, no model was asked");
    assert!(report.contains(&words) && report.contains("\nrehearsal: scripted turns"), "{report}");
    let report = trial.museum.outcome(&trial.results, &["report", "museum", "--format", "json"]).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let pooled: Vec<&Value> = report["modes"].as_array().unwrap().iter().map(|mode| &mode["n"]).collect();
    assert_eq!(pooled, [1, 1], "never pooled with the run");
}

#[test]
fn the_model_replay_says_it_in_the_runs_own_mode_and_domain() {
    let trial = Trial::new();
    let run = trial.run("loop", &[]);
    let name = run.file_name().unwrap().to_str().unwrap();
    let model = format!("replay:{name}");
    let report = trial.museum.compared(&trial.results, &["--model", &model, "--modes", "loop", "--runs", "2"]);
    assert_eq!(report["modes"][0]["identical"], true);
    assert_eq!(
        report["modes"][0]["tokens_read"]["median"],
        read(&run.join("run.json"))["tokens_read"].as_f64().unwrap()
    );
    assert_eq!(report["modes"][0]["passed"], 2);
    let table: &[(&str, &[&str], &str)] = &[
        (
            "run",
            &["--model", &model],
            "is a run of mode loop, and cannot be replayed in mode code\nhint: `run … --mode loop`",
        ),
        ("compare", &["--model", &model], "is a run of mode loop, and cannot be replayed in mode serial"),
        ("run", &["--mode", "loop", "--model", "replay:nothing"], "there is no run `nothing`"),
        ("run", &["--mode", "loop", "--model", "replay:"], "does not say which"),
        ("run", &["--mode", "loop", "--model", &model, "--caching"], "`--caching` is about a model that is asked"),
        ("run", &["--mode", "loop", "--model", &model, "--trace", "x"], "`--trace` is about a model that is asked"),
        ("run", &["--mode", "loop", "--base-url", "http://x"], "`--base-url` is about a model that is asked"),
    ];
    for (command, arguments, told) in table {
        let outcome = finish(&mut trial.museum.command(&trial.results, command, arguments), "");
        assert!(outcome.code == 2 && outcome.stderr.contains(told), "{arguments:?}: {outcome:?}");
    }
    let annex = trial.museum.home().join("annex");
    fs::create_dir(&annex).unwrap();
    let manifest = fs::read_to_string(trial.museum.domain().join("domain.toml")).unwrap();
    fs::write(annex.join("domain.toml"), manifest.replace("name = \"museum\"", "name = \"annex\"")).unwrap();
    let told = format!("{name} is a run of the domain `museum`, not of `annex`");
    for words in [
        ["run", annex.to_str().unwrap(), "--mode", "loop", "--model", &model].as_slice(),
        &["replay", name, "--domain", annex.to_str().unwrap()],
    ] {
        let outcome = trial.museum.outcome(&trial.results, words);
        assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{outcome:?}");
    }
    // The workspace does not know the domain, and what a run calls it is no way to another folder.
    for of_run in ["museum", "../museum", "./museum"] {
        change_record(&run, |record| record["domain"] = json!(of_run));
        let outcome = trial.museum.outcome(&trial.results, &["replay", name]);
        let told = format!("the workspace has no domain `{of_run}`, whose tools the run called");
        assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{outcome:?}");
    }
}
