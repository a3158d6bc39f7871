//! The control, through the real program: a task at which code mode has nothing to save, and a report that says so.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used)]

#[path = "support/program.rs"]
mod program;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use program::{Program, finish, workspace};
use serde_json::{Value, json};

#[test]
fn code_mode_loses_at_one_call_and_the_report_says_so() {
    let program = Program::new();
    let report = program.json(&["compare", "met", "met-control", "--runs", "1", "--format", "json"]);
    let ratio = |domain: &str, of: &str| -> f64 {
        let ratios = report["ratios"].as_array().unwrap();
        let ratio = ratios.iter().find(|ratio| ratio["domain"] == domain && ratio["of"] == of).unwrap();
        ratio["tokens_read"].as_f64().unwrap()
    };
    for mode in ["serial", "loop"] {
        assert!(ratio("met-control", mode) < 0.95, "{report:#}");
        assert!(ratio("met", mode) > 20.0, "{report:#}");
    }
    for run in report["runs"].as_array().unwrap().iter().filter(|run| run["domain"] == "met-control") {
        assert_eq!((&run["verify"]["ok"], &run["network_calls"]), (&json!(true), &json!(0)), "{run:#}");
        assert_eq!(run["tool_calls"], 1, "{run:#}");
    }
    let text = program.run(&["report", "met-control"]).stdout;
    assert!(text.contains(" × what loop read: on this task a script costs more tokens\n"), "{text}");
    assert!(!text.contains("fewer tokens"), "{text}");
    let text = program.run(&["report", "met"]).stdout;
    assert!(text.contains(" × what code read: on this task a script costs fewer tokens\n"), "{text}");
    let text = program.run(&["report", "--last"]).stdout;
    assert!(text.contains("\nall domains: "), "{text}");
    let text = program.run(&["report", "met-control", "--five-lines"]).stdout;
    for line in ["1. Tokens read", "2. Passed", "3. The work", "4. One surprise", "5. When I would choose which"] {
        assert!(text.contains(&format!("\n{line}")), "{text}");
    }
    assert!(text.contains("scripted turns and no model (rehearsal), 1 run of a mode, data from cassette"), "{text}");
}

/// One that cannot be compared keeps no other from it.
#[test]
fn all_domains_that_can_be_compared_are() {
    let folder = tempfile::tempdir().unwrap();
    let domains = folder.path().join("domains");
    fs::write(folder.path().join("Cargo.toml"), "").unwrap();
    fs::create_dir(&domains).unwrap();
    symlink(workspace().join("domains/met-control"), domains.join("met-control")).unwrap();
    let head = "[domain]\nname = \"NAME\"\ntitle = \"t\"\nplugin = \"met\"\n";
    let task = "[task]\npersona = \"p\"\nprompt = \"p\"\n";
    for (name, more) in [("bare", ""), ("broken", "[tusk]\n"), ("silent", task)] {
        fs::create_dir(domains.join(name)).unwrap();
        fs::write(domains.join(name).join("domain.toml"), head.replace("NAME", name) + more).unwrap();
    }
    let compare = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        finish(command.arg("compare").args(arguments).args(["--modes", "code", "--runs", "1"]).current_dir(&folder), "")
    };
    let outcome = compare(&["--all", "--format", "json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let compared: Vec<&Value> = report["runs"].as_array().unwrap().iter().map(|run| &run["domain"]).collect();
    assert_eq!(compared, ["met-control"]);
    for reason in [
        "note: bare is left out: it has no `[task]`",
        "note: broken is left out, since it cannot be read",
        "note: silent is left out: it has no rehearsal",
    ] {
        assert!(outcome.stderr.contains(reason), "{reason}: {outcome:?}");
    }
    assert_eq!(compare(&["--all", "met-control"]).code, 2, "all, or some");
    assert_eq!(compare(&[]).code, 2, "none");
    fs::remove_file(domains.join("met-control")).unwrap();
    let outcome = compare(&["--all"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("can be compared"), "{outcome:?}");
}

/// One run of each mode in turn, or mode after mode; a comparison goes on in the order it was begun in.
#[test]
fn runs_are_interleaved_unless_they_are_not_to_be() {
    let order = |more: &[&str]| -> Vec<String> {
        let program = Program::new();
        let arguments = ["compare", "met-control", "--modes", "loop,code", "--runs", "2", "--format", "json"];
        let report = program.json(&[&arguments[..], more].concat());
        let mut runs = report["runs"].as_array().unwrap().clone();
        runs.sort_by_key(|run| run["started"].as_str().unwrap().to_owned());
        let words = |run: &Value| format!("{} {}", run["mode"].as_str().unwrap(), run["number"]);
        let resumed = [&arguments[..], &["--resume", "--interleave=true"]].concat();
        assert_eq!(program.run(&resumed).code, if more == ["--interleave=false"] { 2 } else { 0 });
        runs.iter().map(words).collect()
    };
    let in_turn = ["loop 1", "code 1", "loop 2", "code 2"];
    assert_eq!(order(&[]), in_turn);
    assert_eq!(order(&["--interleave"]), in_turn);
    assert_eq!(order(&["--interleave=false"]), ["loop 1", "loop 2", "code 1", "code 2"]);
}

/// Budgets end runs, are kept with them, and belong to the command line that goes on with a comparison.
#[test]
fn budgets_end_runs_and_set_them_apart() {
    let program = Program::new();
    let arguments = ["compare", "met-control", "--modes", "loop", "--runs", "1"];
    let bounded = [&arguments[..], &["--max-tokens-read", "900", "--format", "json"]].concat();
    let report = program.json(&bounded);
    let run = &report["runs"][0];
    assert_eq!((&run["stop"], &run["model_turns"], &run["cost_usd"]), (&json!("budget"), &json!(1), &Value::Null));
    assert_eq!(run["budgets"], json!({"max_tokens_read": 900}));
    let detail = run["stop_detail"].as_str().unwrap();
    assert!(detail.starts_with("this run may read 900 tokens (`--max-tokens-read`), and has read 9"), "{detail}");
    assert_eq!(run["verify"]["ok"], true, "it is judged as it stands, and the call had been made");
    assert_eq!(report["modes"][0]["budgets"], run["budgets"]);

    let resumed = program.run(&[&arguments[..], &["--max-tokens-read", "800", "--resume"]].concat());
    assert!(resumed.code == 2 && resumed.stderr.contains("budget `max_tokens_read` 900, not 800"), "{resumed:?}");
    program.json(&[&arguments[..], &["--format", "json"]].concat());
    let text = program.run(&["report", "met-control"]).stdout;
    assert!(text.contains("build · max_tokens_read 900\n"), "{text}");
    let told = program.run(&["show", run["run"].as_str().unwrap()]).stdout;
    assert!(told.contains("asked with max_tokens_read 900\n"), "{told}");
}
