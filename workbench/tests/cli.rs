//! Commands that need no run, through the real program.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::process::Command;

use program::{Program, finish, workspace};
use serde_json::json;
use server::Server;

/// Arguments, exit code, a part of standard output, a part of standard error.
const TABLE: &[(&[&str], i32, &str, &str)] = &[
    (&["list"], 0, "Cats in the Met", ""),
    (&["list", "--format", "json"], 0, "\"name\": \"met\"", ""),
    (&["show", "met"], 0, "12 distinct kinds of object", ""),
    (&["show", "nothing"], 2, "", "there is no domain `nothing`"),
    (&["tools", "met"], 0, "\"input_schema\"", ""),
    (&["tools", "met", "get_object"], 0, "\"object_id\"", ""),
    (&["tools", "met", "--python"], 0, "def get_object(object_id: int)", ""),
    (&["tools", "met", "nothing"], 2, "", "unknown tool `nothing`"),
    (&["call", "met", "search_collection", "query=cat", "limit=5"], 0, "\"next_offset\":5", ""),
    (&["call", "met", "get_object", "{\"object_id\": 99999999}"], 1, "ERROR: ", ""),
    (&["call", "met", "get_object", "object_id=99999999"], 1, "returned HTTP 404: ObjectID not found", ""),
    (&["call", "met", "get_object", "objectid=1"], 1, "unknown argument `objectid`", ""),
    (&["call", "met", "get_objects"], 2, "unknown tool `get_objects`", ""),
    (&["run", "met", "--route", "collectionapi.metmuseum.org=http://127.0.0.1:1"], 5, "", "could not be reached"),
    (&["call", "met", "get_object", "1"], 2, "", "`1` is not NAME=VALUE\nhint: write `object_id=1`"),
    (&["call", "met", "make_contact_sheet", "name=x", "object_ids=[9000003]"], 1, "download_image", ""),
    (&["fetch", "met", "/v1/departments"], 0, "\"departmentId\"", "from the cassette"),
    (&["fetch", "met", "/v1/search?q=cat"], 5, "", "/v1/search?q=cat returned HTTP 410: "),
    (&["fetch", "met", "/v1/objects/1"], 5, "", "/v1/objects/1 is not recorded in the cassette"),
    (&["fetch", "met", "https://example.org/"], 2, "", "https://example.org/ is not allowed"),
    (&["fetch", "met", "/v1/departments", "--inject", "path=/v1/departments,status=503"], 5, "", "HTTP 503"),
    (&["fetch", "met", "/v1/departments", "--inject", "status"], 2, "", "is not an injection"),
    (&["fetch", "met", "/v1/departments", "--route", "nonsense"], 2, "", "is not a route"),
    (
        &["fetch", "met", "/v1/departments", "--route", "images.metmuseum.com=http://127.0.0.1:1"],
        2,
        "",
        "did you mean `images.metmuseum.org`",
    ),
    (&["script", "met", "no-such-file.py"], 2, "", "no-such-file.py cannot be read"),
    (&["script", "met", "/dev/zero"], 2, "", "/dev/zero cannot be read: it is longer than 8 MB"),
    (&["report", "met"], 2, "", "there are no runs of met"),
    (&["verify", "nothing"], 2, "", "there is no run `nothing`"),
    (&["replay", "nothing"], 2, "", "there is no run `nothing`"),
    (&["run", "met", "--model", "replay:nothing"], 2, "", "there is no run `nothing`"),
    (&["run", "met", "--mode", "hostde"], 2, "", "there is no mode `hostde`"),
    (&["run", "met", "--model", "oracle:1"], 2, "", "there is no model `oracle:1`"),
    (&["run", "met", "--mode", "loop", "--loop-turns", "0"], 2, "", "must be at least 1"),
    (&["run", "met", "--output-chars", "0"], 2, "", "must be at least 1"),
    (&["script", "met", "domains/met/smoke.py", "--script-seconds", "18446744073709551615"], 0, "", ""),
    (&["run", "met", "--max-tokens-read", "0"], 2, "", "must be at least 1"),
    (&["run", "met", "--max-cost", "0"], 2, "", "must be more than 0"),
    (&["run", "met", "--max-cost", "nan"], 2, "", "must be more than 0"),
    (
        &["run", "met", "--max-cost", "1"],
        2,
        "",
        "`--max-cost` is about what a model costs, and none is asked by `rehearsal`",
    ),
    (&["compare", "met", "--max-total-cost", "1"], 2, "", "`--max-total-cost` is about what a model costs"),
    (&["compare", "met", "--prices", "README.md"], 2, "", "the prices in README.md cannot be used"),
    (&["compare", "met", "--prices", "none.toml"], 2, "", "the prices in none.toml could not be read"),
    (&["compare"], 2, "", "<DOMAIN>"),
    (&["compare", "met", "--runs", "0"], 2, "", "0 is not in 1..=100"),
    (&["compare", "met", "--results", "README.md"], 2, "", "the results folder README.md cannot be written"),
    (&["doctor"], 0, "6 tools, runs offline from its cassette", ""),
    (
        &["doctor", "--results", "/dev/null/results"],
        1,
        "MISSING: results folder: /dev/null/results cannot be written",
        "",
    ),
];

#[test]
fn commands_say_what_they_found() {
    let program = Program::new();
    let mut wrong = Vec::new();
    for (arguments, code, stdout, stderr) in TABLE {
        let outcome = program.run(arguments);
        if outcome.code != *code || !outcome.stdout.contains(stdout) || !outcome.stderr.contains(stderr) {
            wrong.push(format!("{arguments:?}: {outcome:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_word_that_is_no_text_is_a_usage_error() {
    use std::os::unix::ffi::OsStrExt as _;

    let word = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    for before in [vec![], vec!["run"], vec!["fetch", "met"]] {
        let outcome = finish(Command::new(env!("CARGO_BIN_EXE_workbench")).args(&before).arg(word), "");
        assert_eq!(outcome.code, 2, "{before:?}: {outcome:?}");
    }
}

#[test]
fn a_failure_prints_no_data() {
    let program = Program::new();
    for (arguments, code, stdout, _) in TABLE {
        // `call` prints what a model would read, failures included.
        if *code >= 2 && stdout.is_empty() {
            assert_eq!(program.run(arguments).stdout, "", "{arguments:?}");
        }
    }
}

#[test]
fn the_doctor_leaves_no_folder_that_was_not_there() {
    let program = Program::new();
    let there = program.results().join("there");
    std::fs::create_dir(&there).unwrap();
    for (results, stays) in [(program.results().join("new/deeper"), false), (there.clone(), true)] {
        let outcome = program.run(&["doctor", "--results", results.to_str().unwrap()]);
        assert!(outcome.code == 0 && outcome.stdout.contains("ok:      results folder"), "{outcome:?}");
        assert_eq!(results.exists(), stays, "{results:?}");
    }
    let left: Vec<_> = std::fs::read_dir(program.results()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [there]);
}

#[test]
fn the_doctor_promises_of_each_kind_of_worker_what_holds_for_it() {
    let checks = Program::new().json(&["doctor", "--format", "json"]);
    let names = |workers: &str| {
        let names = checks.as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap());
        names.filter_map(|name| name.strip_prefix(workers)).collect::<Vec<_>>().join("")
    };
    let of_plugins = ", limits, no core file, memory limit, death signal, file rules, system-call filter, \
                      network and signal rules";
    assert_eq!(names("plugin workers"), of_plugins);
    let of_scripts = ", limits, no core file, memory limit, death signal, system-call filter";
    assert_eq!(names("script workers"), of_scripts);
    if cfg!(target_os = "linux") {
        // A kernel may lack these two.
        let optional = |check: &serde_json::Value| check["name"].as_str().unwrap().ends_with(" rules");
        let is_for_some = |check: &serde_json::Value| {
            ["key of ", "container "].iter().any(|start| check["name"].as_str().unwrap().starts_with(start))
        };
        let sound = |check: &serde_json::Value| match check["state"].as_str().unwrap() {
            "unset" => is_for_some(check),
            "weaker" => optional(check),
            state => state == "ok",
        };
        assert!(checks.as_array().unwrap().iter().all(sound), "{checks:#}");
    }
}

/// Every example of every `--help` runs as it stands, in the order of the list of commands.
#[test]
fn examples_in_help_run() {
    let program = Program::new();
    let help = program.run(&["--help"]).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").and_then(|line| line.split(' ').next()))
        .filter(|word| !word.is_empty())
        .collect();
    assert!(commands.len() >= 13, "{commands:?}");
    let mut run = None;
    for command in commands {
        let text = program.run(&[command, "--help"]).stdout;
        let examples: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.starts_with("Example"))
            .skip(1)
            .take_while(|line| !line.is_empty())
            .map(|line| line.trim().split("    ").next().unwrap())
            .collect();
        assert!(!examples.is_empty(), "{command} has no example");
        for example in examples {
            // What needs the network, a key or a container engine, repeats a comparison at length or leaves something in the
            // workspace, is tried elsewhere.
            let elsewhere = [
                "workbench new",
                "workbench record",
                "workbench sandbox build",
                "workbench probe --sandbox docker",
                "workbench serve",
            ];
            if elsewhere.iter().any(|start| example.starts_with(start))
                || example.contains("--runs")
                || example.contains("--model")
            {
                continue;
            }
            let name: String = run.clone().unwrap_or_default();
            let line = example
                .replace("workbench ", &format!("{} ", env!("CARGO_BIN_EXE_workbench")))
                .replace("2026-11-29T15-30-00Z-code-1", &name);
            // Runs appear with the first `run`; what shows one comes earlier in the list.
            if line.contains("show ") && !line.ends_with("met") && name.is_empty() {
                continue;
            }
            let outcome = finish(
                Command::new("sh")
                    .args(["-c", &line])
                    .current_dir(workspace())
                    .env("WORKBENCH_RESULTS", program.results())
                    .env_remove("WORKBENCH_ROUTES"),
                "",
            );
            let expected = if example.contains("/v1/search?") { 5 } else { 0 };
            assert_eq!(outcome.code, expected, "{example}: {outcome:#?}");
            if command == "run" {
                let runs = program.json(&["report", "met", "--format", "json"]);
                run = runs["runs"][0]["run"].as_str().map(str::to_owned);
            }
        }
    }
    let run = run.unwrap();
    let outcome = program.run(&["show", &run]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("verified: 9 of 9 points"), "{outcome:?}");
}

#[test]
fn a_script_prints_its_streams_apart_and_its_ledger_after() {
    let program = Program::new();
    let script = "import sys\nfrom tools import *\nprint(len(list_departments()))\nprint('aside', file=sys.stderr)\n";
    let outcome = program.run_with(&["script", "met", "-", "--ledger"], script);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let (output, ledger) = outcome.stdout.split_once('\n').unwrap();
    assert_eq!(output, "19");
    assert!(outcome.stderr.ends_with("aside\n"), "{outcome:?}");
    let call: serde_json::Value = serde_json::from_str(ledger.trim()).unwrap();
    assert_eq!(call["tool"], "list_departments");
    assert_eq!(call["script"], 1);
    assert_eq!(call["outcome"], "answered");
    assert_eq!(call["arguments"], json!({}));

    let outcome = program.run_with(&["script", "met", "-"], "raise SystemExit(3)");
    assert_eq!((outcome.code, outcome.stderr.contains("EXIT CODE 3")), (1, true), "{outcome:?}");
    let outcome = program.run_with(&["script", "met", "-", "--script-seconds", "1"], "while True: pass");
    let told = outcome.stderr.contains("time limit\nhint: `--script-seconds N` grants more");
    assert_eq!((outcome.code, told), (1, true), "{outcome:?}");
}

/// The variable is set once for many domains.
#[test]
fn routes_of_other_domains_are_passed_over() {
    let program = Program::new();
    for (routes, code, words) in [
        ("beasts.example=http://127.0.0.1:1", 0, "from the cassette"),
        ("beasts.example", 2, "WORKBENCH_ROUTES"),
        ("beasts.example=http://127.0.0.1:1,collectionapi.metmuseum.org=http://127.0.0.1:1", 5, "could not be reached"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(["fetch", "met", "/v1/departments"]).current_dir(workspace());
        command.env("WORKBENCH_RESULTS", program.results()).env("WORKBENCH_ROUTES", routes);
        let outcome = finish(&mut command, "");
        assert!(outcome.code == code && outcome.stderr.contains(words), "{routes}: {outcome:?}");
    }
}

#[test]
fn of_two_routes_for_one_host_that_of_the_command_line_is_taken() {
    let program = Program::new();
    let mirror = Server::start(|_| server::json("\"by flag\""));
    let route = format!("collectionapi.metmuseum.org={}", mirror.url());
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(["fetch", "met", "/v1/departments", "--route", &route]).current_dir(workspace());
    command.env("WORKBENCH_RESULTS", program.results());
    command.env("WORKBENCH_ROUTES", "collectionapi.metmuseum.org=http://127.0.0.1:1");
    let outcome = finish(&mut command, "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "\"by flag\""), "{outcome:?}");
}

/// What `| head` leaves unread is nobody's loss; what a full disk takes is told.
#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_is_told_unless_nobody_wants_it() {
    use std::fs::File;

    let program = Program::new();
    for arguments in [
        &["list"][..],
        &["list", "--format", "json"],
        &["show", "met"],
        &["tools", "met", "--python"],
        &["call", "met", "list_departments"],
        &["fetch", "met", "/v1/departments"],
        &["doctor"],
        &["script", "met", "domains/met/smoke.py"],
    ] {
        let run = |stdout: std::process::Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
            command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", program.results());
            let output = command.env_remove("WORKBENCH_ROUTES").stdout(stdout).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, stderr) = run(File::create("/dev/full").unwrap().into());
        let told = "error: standard output cannot be written: No space left on device";
        assert!(code == Some(70) && stderr.contains(told), "{arguments:?}: {code:?} {stderr}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (code, stderr) = run(writer.into());
        assert!(code == Some(0) && !stderr.contains("error"), "{arguments:?}: {code:?} {stderr}");
    }
}
