//! The main job, through the real program: three modes of the bundled domain, compared.
#![allow(clippy::unwrap_used)]

#[path = "support/program.rs"]
mod program;

use program::Program;
use serde_json::Value;
use workbench::report::table::grouped;

#[test]
fn code_passes_where_step_by_step_falls_short() {
    let program = Program::new();
    let report = program.json(&["compare", "met", "--format", "json"]);
    assert_eq!(report["format"], "workbench/report/v1");
    let modes = report["modes"].as_array().unwrap();
    let mode = |name: &str| modes.iter().find(|mode| mode["mode"] == name).unwrap();

    assert_eq!(modes.len(), 3);
    for (name, passed) in [("serial", 0), ("loop", 0), ("code", 3)] {
        assert_eq!(mode(name)["passed"], passed, "{name}: {:#}", mode(name));
        assert_eq!(mode(name)["errors"], 0, "{name}");
        assert_eq!(mode(name)["n"], 3, "{name}");
        assert_eq!(mode(name)["model"], "rehearsal");
        assert_eq!(mode(name)["estimated"], true);
        assert_eq!(mode(name)["identical"], true, "{name}: a rehearsal always reads the same");
    }
    let (of_loop, of_serial) = (mode("loop"), mode("serial"));
    let turns = |mode: &Value| mode["model_turns"]["median"].as_f64().unwrap();
    assert!((8.0..=13.0).contains(&turns(of_loop)), "{of_loop:#}");
    let calls = of_loop["calls"]["median"].as_f64().unwrap();
    assert!((50.0..=60.0).contains(&calls), "{of_loop:#}");
    assert_eq!(of_serial["calls"]["median"].as_f64().unwrap(), calls, "the same policy, one call a turn");
    assert_eq!(turns(of_serial), calls + 1.0, "a turn a call, and the last words");

    let ratio = report["ratios"].as_array().unwrap().iter().find(|ratio| ratio["of"] == "loop").unwrap();
    assert!(ratio["tokens_read"].as_f64().unwrap() >= 20.0, "{ratio:#}");

    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["network_calls"], 0, "the cassette answers everything");
        assert_eq!(run["source"], "cassette");
        assert_eq!(run["command"], report["runs"][0]["command"], "one command made them all");
        assert!((1..=3).contains(&run["number"].as_u64().unwrap()), "{run:#}");
        assert_eq!(run["limits"]["code_turns"], 8);
        assert_eq!(run["stop"], "end_turn");
        let read: u64 =
            run["per_turn"].as_array().unwrap().iter().map(|turn| turn["tokens_read"].as_u64().unwrap()).sum();
        assert_eq!(run["tokens_read"], read, "the sum of the turns");
        if run["mode"] != "code" {
            let fell: Vec<&str> = run["verify"]["rules"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|rule| rule["status"] != "pass")
                .map(|rule| rule["name"].as_str().unwrap())
                .collect();
            assert_eq!(fell, ["12 distinct kinds of object"]);
        } else {
            assert_eq!(run["scripts_run"], 2, "the first one fails, the second mends it");
        }
    }

    let text = program.run(&["report", "met"]);
    assert_eq!(text.code, 0);
    assert!(text.stdout.contains("rehearsal of the lesson's runs"), "{}", text.stdout);
    assert!(text.stdout.contains('≈'), "{}", text.stdout);
    assert_eq!(program.run(&["report", "met", "--require", "code"]).code, 0);
    assert_eq!(program.run(&["report", "met", "--require", "loop"]).code, 1);
    let untagged = program.run(&["report", "met", "--tag", "nosuch"]);
    assert!(untagged.code == 2 && untagged.stderr.contains("hint: none of them has a tag"), "{untagged:?}");

    for page in ["README.md", "docs/lesson.md"] {
        let page_text = std::fs::read_to_string(program::workspace().join(page)).unwrap();
        for mode in modes {
            let tokens = format!("≈{}", grouped(mode["tokens_read"]["median"].as_f64().unwrap() as u64));
            assert!(page_text.contains(&tokens), "{page} does not show the {tokens} tokens of {}", mode["mode"]);
        }
    }

    verdicts_are_repeated_from_the_files(&program, &report);
}

/// The same verdict from the files alone, and another one when a file is gone.
fn verdicts_are_repeated_from_the_files(program: &Program, report: &Value) {
    let run = report["runs"].as_array().unwrap().iter().find(|run| run["mode"] == "code").unwrap();
    let name = run["run"].as_str().unwrap();
    let again = program.run(&["verify", name, "--format", "json"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap(), run["verify"]);

    let out = program.results().join("met").join(name).join("out");
    std::fs::remove_file(out.join("contact_sheet.jpg")).unwrap();
    let outcome = program.run(&["verify", name]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stdout.contains("not verified"), "{outcome:?}");

    // A picture that is not beside the page is no piece of the exhibit.
    let page = std::fs::read_to_string(out.join("exhibit.html")).unwrap();
    let remote = page.replacen("src=\"", "src=\"https://images.example/", 1);
    assert_ne!(remote, page);
    std::fs::write(out.join("exhibit.html"), remote).unwrap();
    let verdict: Value = serde_json::from_str(&program.run(&["verify", name, "--format", "json"]).stdout).unwrap();
    let pieces = verdict["rules"].as_array().unwrap().iter().find(|rule| rule["name"] == "12 pieces").unwrap();
    assert_eq!((&pieces["status"], &pieces["got"]), (&"fail".into(), &11.into()), "{pieces:#}");
}

/// What is named twice is made once, and the last command can be looked at alone.
#[test]
fn a_report_can_be_of_the_last_command() {
    let program = Program::new();
    let once = ["--modes", "code,code", "--runs", "1", "--tag", "first", "--format", "json"];
    program.json(&[&["compare", "met", "met"][..], &once].concat());
    let report = program.json(&["compare", "met", "--modes", "code", "--runs", "1", "--format", "json"]);
    let runs = |arguments: &[&str]| program.json(arguments)["runs"].clone();
    assert_eq!(runs(&["report", "met", "--format", "json"]).as_array().unwrap().len(), 2);
    assert_eq!(runs(&["report", "met", "--last", "--format", "json"]), report["runs"]);

    let other = program.run(&["report", "met", "--tag", "frist"]);
    let told = other.stderr.contains("has the tag `frist`") && other.stderr.contains("hint: the tags are: first\n");
    assert!(other.code == 2 && told, "{other:?}");
    let missing = program.run(&["report", "met", "--require", "serial", "--require", "code"]);
    let told = missing.stderr == "note: no run of the required mode serial is there\n";
    assert!(missing.code == 1 && told, "{missing:?}");
}

/// What each mode does when the API changed under the tools: told, or not told.
#[test]
fn faults_are_seen_by_the_verdict() {
    let program = Program::new();
    let faults = [
        "path=/v1.1/search*,status=410,message=This search has been retired.",
        "path=/v1.1/search*,swallow={\"total\":0,\"objectIDs\":null}",
    ];
    for fault in faults {
        let report = program.json(&["compare", "met", "--runs", "1", "--inject", fault, "--format", "json"]);
        for run in report["runs"].as_array().unwrap() {
            assert_eq!(run["verify"]["ok"], false, "{fault}: {run:#}");
            assert_eq!(run["stop"], "end_turn", "{fault}: {run:#}");
            assert!(run["source"].as_str().unwrap().contains(fault), "injected runs are never pooled with others");
            let told = run["final_text"].as_str().unwrap().contains("retired");
            assert_eq!(told, fault.contains("status"), "{fault}: {run:#}");
        }
    }
}
