//! `compare --resume`: a comparison that was cut off goes on, and nothing that was finished is made again.
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
use std::path::{Path, PathBuf};

use museum::{Museum, content, figures, litter, names};
use patience::wait_until;
use processes::{Running, send};
use program::{Outcome, finish};
use rustix::process::Signal;
use serde_json::{Value, json};
use workbench::results::find::{StoredRun, list_runs};
use workbench::results::format::Stop;

const SETTINGS: [&str; 6] = ["--modes", "loop,code", "--runs", "2", "--tag", "pair"];

fn runs(results: &Path) -> Vec<StoredRun> {
    let listing = list_runs(results, None).unwrap();
    assert!(listing.skipped.is_empty(), "{:?}", listing.skipped);
    listing.runs
}

/// A comparison that has finished its first run and waits in its second.
fn waiting(museum: &Museum, results: &Path) -> Running {
    museum.open_gate(false);
    let host = Running::start(&mut museum.command(results, "compare", &SETTINGS));
    wait_until("the second run has begun", || runs(results).iter().any(|run| run.record.mode == "code"));
    host
}

/// One run finished, one cut off by a kill, two never begun.
fn cut_off() -> (Museum, PathBuf) {
    let museum = Museum::open();
    let results = museum.results("mine");
    drop(waiting(&museum, &results));
    museum.open_gate(true);
    (museum, results)
}

fn resumed(museum: &Museum, results: &Path, more: &[&str]) -> Outcome {
    finish(museum.command(results, "compare", &[&SETTINGS[..], more].concat()).args(["--format", "json"]), "")
}

fn report_of(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn what_was_cut_off_goes_on_and_what_was_finished_stays() {
    let (museum, results) = cut_off();
    let undisturbed = museum.compared(&museum.results("other"), &SETTINGS);
    let begun = runs(&results);
    let stops: Vec<Stop> = begun.iter().map(|run| run.record.stop).collect();
    assert!(stops.contains(&Stop::EndTurn) && stops.contains(&Stop::Interrupted) && stops.len() == 2, "{stops:?}");
    let before = content(&results.join("museum"));

    let outcome = resumed(&museum, &results, &["--resume"]);
    let command = &begun[0].record.command;
    let words = format!("resuming {command}: 1 decided, 3 to be made");
    assert!(outcome.stderr.contains(&words), "{outcome:?}");
    let report = report_of(&outcome);
    assert_eq!(figures(&report), figures(&undisturbed));
    let places = |report: &Value| -> Vec<Value> {
        report["runs"].as_array().unwrap().iter().map(|run| json!([run["mode"], run["number"]])).collect()
    };
    assert_eq!(places(&report), places(&undisturbed), "in the order of a comparison that was not cut off");
    assert!(report["runs"].as_array().unwrap().iter().all(|run| run["command"] == command.as_str()));

    let after = content(&results.join("museum"));
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "what was there is as it was");
    assert_eq!(runs(&results).len(), 5, "the unfinished one is kept");
    // Reports show the finished run in its place.
    for arguments in [&["report", "museum"][..], &["report", "museum", "--last"], &["report", "--tag", "pair"]] {
        let shown = museum.outcome(&results, &[arguments, &["--format", "json"]].concat());
        let (mut shown, mut made) = (names(&report_of(&shown)), names(&report));
        shown.sort();
        made.sort();
        assert_eq!(shown, made, "{arguments:?}");
    }
    assert_eq!(litter(&results), Vec::<PathBuf>::new());

    // Nothing is left: it is said, and reported.
    let again = resumed(&museum, &results, &["--resume"]);
    assert!(again.stderr.contains("4 decided, 0 to be made"), "{again:?}");
    assert_eq!(report_of(&again), report);
    assert_eq!(runs(&results).len(), 5);
}

/// What differs from the comparison that was cut off, and how it is told.
#[test]
fn a_setting_that_differs_is_named() {
    let (museum, results) = cut_off();
    let command = runs(&results)[0].record.command.clone();
    let table: &[(&[&str], &str)] = &[
        (&["--modes", "loop"], "`--modes` loop,code, not loop"),
        (&["--runs", "3"], "`--runs` 2, not 3"),
        (&["--tag", "other"], "`--tag` pair, not other"),
        (&["--tool-calls", "7"], "limit `tool_calls` 2000, not 7"),
        (&["--inject", "path=*,status=500"], "data from api.example="),
        (&["--runs", "3", "--loop-turns", "2"], "`--runs` 2, not 3; limit `loop_turns` 60, not 2"),
    ];
    for (more, told) in table {
        for resume in ["--resume".to_owned(), format!("--resume={command}")] {
            // A flag given twice is a usage error, so the settings come first without what is changed.
            let kept: Vec<&str> =
                SETTINGS.chunks(2).filter(|flag| !more.contains(&flag[0])).flatten().copied().collect();
            let arguments = [&kept[..], more, &[resume.as_str()]].concat();
            let outcome = finish(&mut museum.command(&results, "compare", &arguments), "");
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}: {outcome:?}");
            assert!(outcome.stderr.contains(told) && outcome.stderr.contains(&command), "{arguments:?}: {outcome:?}");
        }
    }
    assert_eq!(runs(&results).len(), 2, "nothing was run");
}

/// What is changed in the domain since the comparison began, and the part that is told; nothing where it counts nowhere.
#[test]
fn a_domain_that_differs_is_named() {
    let (museum, results) = cut_off();
    let table: &[(&str, &str, &str, &str)] = &[
        ("domain.toml", "ids|length == 3", "ids|length >= 3", "the rules of museum"),
        ("domain.toml", "select = \"figure img\"", "select = \"img\"", "the evidence of museum"),
        ("domain.toml", "Show three pieces.", "Show me three pieces.", "the task of museum"),
        ("domain.toml", "https://api.example", "https://api.example/v2", "the tools of museum"),
        ("rehearsal/code/2.py", "IDS = [1, 2, 3]", "IDS = [3, 2, 1]", "the rehearsal of museum"),
    ];
    for (file, old, new, told) in table {
        let path = museum.domain().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old}");
        fs::write(&path, text.replace(old, new)).unwrap();
        let outcome = resumed(&museum, &results, &["--resume"]);
        let told = format!("was made otherwise: {told} as recorded there, not as found here now\n");
        assert!(outcome.code == 2 && outcome.stderr.contains(&told), "{told}: {outcome:?}");
        fs::write(&path, text).unwrap();
    }
    assert_eq!(runs(&results).len(), 2, "nothing was run");
    // Runs of a workbench that kept no fingerprint are known by their copy of the manifest alone.
    let manifest = museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("[task]", "# What is asked.\n[task]")).unwrap();
    let kept: Vec<(PathBuf, String)> = runs(&results)
        .iter()
        .map(|run| run.folder.join("run.json"))
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    for (path, record) in &kept {
        let mut record: Value = serde_json::from_str(record).unwrap();
        assert!(record.as_object_mut().unwrap().remove("fingerprint").is_some(), "{record}");
        fs::write(path, record.to_string()).unwrap();
    }
    let outcome = resumed(&museum, &results, &["--resume"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("the domain.toml of museum as recorded there"), "{outcome:?}");
    for (path, record) in &kept {
        fs::write(path, record).unwrap();
    }
    let outcome = resumed(&museum, &results, &["--resume"]);
    assert!(outcome.code == 0 && outcome.stderr.contains("1 decided, 3 to be made"), "a comment: {outcome:?}");
}

/// Two runs of one comparison tell of its modes in another order; what differs from both is told once.
#[test]
fn a_setting_that_differs_is_named_once() {
    let (museum, results) = cut_off();
    let path = runs(&results)[1].folder.join("run.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["comparison"]["modes"] = json!(["code", "loop"]);
    fs::write(&path, record.to_string()).unwrap();
    let settings = ["--modes", "loop", "--runs", "2", "--tag", "pair", "--resume"];
    let outcome = finish(&mut museum.command(&results, "compare", &settings), "");
    assert!(outcome.code == 2 && outcome.stderr.matches("`--modes`").count() == 1, "{outcome:?}");
}

/// What the command line alone tells needs no network, however slow or far.
#[test]
fn nobody_is_asked_before_the_settings_are_alike() {
    let museum = Museum::open();
    let manifest = museum.domain().join("domain.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let probe = "probe = [{ name = \"a\", get = \"/v1/objects/9\", expect = \"status == 200\" }]";
    fs::write(&manifest, text.replace("pace =", &format!("{probe}\npace ="))).unwrap();
    let results = museum.results("mine");
    let settings = ["--modes", "loop", "--runs", "1", "--fresh"];
    museum.compared(&results, &settings);
    let asked = || museum.requests().get("/v1/objects/9").copied().unwrap_or_default();
    assert_eq!(asked(), 1, "a new comparison asks");
    let other = ["--modes", "loop", "--runs", "2", "--fresh", "--resume"];
    let outcome = finish(&mut museum.command(&results, "compare", &other), "");
    assert!(outcome.code == 2 && outcome.stderr.contains("`--runs` 1, not 2"), "{outcome:?}");
    museum.compared(&results, &[&settings[..], &["--resume"]].concat());
    assert_eq!(asked(), 1, "where nothing is left to be made, nobody is asked, either");
}

#[test]
fn there_must_be_something_to_resume() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let nothing = resumed(&museum, &results, &["--resume"]);
    assert!(nothing.code == 2 && nothing.stderr.contains("there is no comparison of museum"), "{nothing:?}");
    // A run by itself is no comparison.
    assert_eq!(finish(&mut museum.command(&results, "run", &["--mode", "loop", "--tag", "pair"]), "").code, 0);
    let nothing = resumed(&museum, &results, &["--resume"]);
    assert!(nothing.code == 2 && nothing.stderr.contains("there is no comparison of museum"), "{nothing:?}");
    museum.compared(&results, &SETTINGS);
    let unknown = resumed(&museum, &results, &["--resume=2020-01-01T00-00-00.000Z-1"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("there is no comparison `2020-01-01"), "{unknown:?}");
    let command = runs(&results).last().unwrap().record.command.clone();
    assert!(unknown.stderr.contains(&format!("there are: {command}")), "{unknown:?}");
}

#[test]
fn a_comparison_that_is_under_way_is_left_alone() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let host = waiting(&museum, &results);
    let outcome = resumed(&museum, &results, &["--resume"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("is still under way"), "{outcome:?}");
    // A new one is another matter; only this one waits.
    museum.open_gate(true);
    museum.compared(&results, &["--modes", "loop", "--runs", "1"]);
    assert_eq!(fs::read_dir(results.join(".commands")).unwrap().count(), 1);
    drop(host);
    assert_eq!(report_of(&resumed(&museum, &results, &["--resume"]))["runs"].as_array().unwrap().len(), 4);
    assert_eq!(litter(&results), Vec::<PathBuf>::new());
}

#[test]
fn the_newest_that_is_not_complete_goes_on() {
    let (museum, results) = cut_off();
    let first = runs(&results)[0].record.command.clone();
    // A newer one that is complete has nothing to go on with.
    museum.compared(&results, &SETTINGS);
    let report = report_of(&resumed(&museum, &results, &["--resume"]));
    assert_eq!(report["runs"][0]["command"], first.as_str());
    assert_eq!(figures(&report)[0][1], 2);
}

/// Ctrl-C, and a model that fails, leave what a kill leaves.
#[test]
fn interrupted_and_failed_runs_are_made_again() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let host = waiting(&museum, &results);
    send(host.0.id(), Signal::INT);
    assert_eq!(host.end().code, 130);
    museum.open_gate(true);
    let report = report_of(&resumed(&museum, &results, &["--resume"]));
    assert_eq!(figures(&report), figures(&museum.compared(&museum.results("other"), &SETTINGS)));

    // The policy is what plays the model. It may be mended as long as no run that is decided was made by it.
    let (results, settings) = (museum.results("failed"), ["--modes", "loop", "--runs", "2"]);
    let policy = museum.domain().join("rehearsal/loop.py");
    let good = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, "raise SystemExit(3)").unwrap();
    let failed = museum.compared(&results, &settings);
    assert_eq!(figures(&failed)[0].as_array().unwrap()[..4], [json!("loop"), json!(0), json!(0), json!(2)]);
    assert!(runs(&results).iter().all(|run| run.record.stop == Stop::ModelError));
    fs::write(&policy, good).unwrap();
    let report = museum.compared(&results, &[&settings[..], &["--resume"]].concat());
    assert_eq!(figures(&report), figures(&museum.compared(&museum.results("another"), &settings)));
}

#[test]
fn several_domains_go_on_together() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let second = museum.home().join("annex");
    fs::create_dir_all(second.join("rehearsal/code")).unwrap();
    for file in ["rehearsal/loop.py", "rehearsal/code/1.py", "rehearsal/code/2.py"] {
        fs::copy(museum.domain().join(file), second.join(file)).unwrap();
    }
    let manifest = fs::read_to_string(museum.domain().join("domain.toml")).unwrap();
    fs::write(second.join("domain.toml"), manifest.replace("name = \"museum\"", "name = \"annex\"")).unwrap();
    let both = [second.to_str().unwrap(), "--runs", "1", "--modes", "loop,code"];
    museum.open_gate(false);
    let host = Running::start(&mut museum.command(&results, "compare", &both));
    wait_until("the second run has begun", || runs(&results).iter().any(|run| run.record.mode == "code"));
    drop(host);
    museum.open_gate(true);
    let report = museum.compared(&results, &[&both[..], &["--resume"]].concat());
    let made: Vec<Value> = report["runs"].as_array().unwrap().iter().map(|run| run["domain"].clone()).collect();
    assert_eq!(made, ["museum", "museum", "annex", "annex"]);
    let one =
        finish(&mut museum.command(&results, "compare", &["--runs", "1", "--modes", "loop,code", "--resume"]), "");
    assert!(one.code == 2 && one.stderr.contains("there is no comparison of museum"), "{one:?}");
}

/// The clock was ahead when the first comparison was made, and was put back.
#[test]
fn the_order_of_commands_is_not_the_clocks() {
    let museum = Museum::open();
    let results = museum.results("mine");
    let settings = ["--modes", "loop", "--runs", "1"];
    let names_of = |report: &Value| names(report);
    museum.compared(&results, &settings);
    let ahead = "2999-01-01T00-00-00";
    let folder = &runs(&results)[0].folder;
    let record = fs::read_to_string(folder.join("run.json")).unwrap();
    let (name, command) = (folder.file_name().unwrap().to_str().unwrap(), &runs(&results)[0].record.command);
    let record = record.replace(name, &format!("{ahead}Z-loop-1")).replace(command, &format!("{ahead}.000Z-7"));
    fs::write(folder.join("run.json"), record).unwrap();
    fs::rename(folder, results.join("museum").join(format!("{ahead}Z-loop-1"))).unwrap();
    let is_last = || {
        let made = museum.compared(&results, &settings);
        let last = museum.outcome(&results, &["report", "museum", "--last", "--format", "json"]);
        assert_eq!(names_of(&report_of(&last)), names_of(&made));
        assert!(*names_of(&made)[0] < *ahead, "a name tells the clock's time");
    };
    is_last();
    is_last();
    // Whatever a record says that was handed in: its folder has another time, or there is no time behind it.
    for told in ["9000-01-01T00-00-00.000Z-7", "9999-12-30T22-00-00.999Z-7", "9999-12-31T00-00-00.000Z-7", "~"] {
        let run = runs(&results).remove(0);
        let record = fs::read_to_string(run.folder.join("run.json")).unwrap();
        fs::write(run.folder.join("run.json"), record.replace(&run.record.command, told)).unwrap();
        is_last();
    }
}
