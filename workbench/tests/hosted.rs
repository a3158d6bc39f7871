//! Mode `hosted` at its real boundary: the domains rehearse over HTTP behind a server of our own, and whatever a provider
//! answers is a run to its end.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/hosted_answers.rs"]
mod answers;
#[path = "support/program.rs"]
mod program;
#[path = "support/hosted_programs.rs"]
mod programs;
#[path = "support/server.rs"]
mod server;

use std::fs;
use std::process::Command;
use std::sync::Mutex;

use program::{Outcome, Program, finish, workspace};
use serde_json::{Value, json};
use server::{Server, answer};

const STANDIN: &str = "workbench/tests/domains/standin";
const JSON: &str = "content-type: application/json";

#[test]
fn a_rehearsal_reads_a_fifth_of_what_the_loop_reads_and_passes_as_code_does() {
    let program = Program::new();
    for domain in ["met", "pokemon", "dnd-encounter"] {
        let arguments = ["compare", domain, "--modes", "loop,code,hosted", "--runs", "1", "--format", "json"];
        let outcome = program.run(&arguments);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let runs = report["runs"].as_array().unwrap();
        let of = |mode: &str| runs.iter().find(|run| run["mode"] == mode).unwrap();
        let (step, code, hosted) = (of("loop"), of("code"), of("hosted"));
        let read = |run: &Value| run["tokens_read"].as_u64().unwrap();
        assert!(read(hosted) * 5 <= read(step), "{domain}: {} of {}", read(hosted), read(step));
        if domain == "met" {
            let page = fs::read_to_string(workspace().join("docs/hosted.md")).unwrap();
            let grouped = |run: &Value| format!("≈{},{:03}", read(run) / 1000, read(run) % 1000);
            let told = [hosted, code, step].map(grouped);
            assert!(told.iter().all(|figure| page.contains(figure)), "docs/hosted.md tells others than {told:?}");
        }
        assert_eq!(hosted["verify"]["ok"], code["verify"]["ok"], "{domain}");
        assert_eq!(hosted["verify"]["ok"], true, "{domain}");
        assert_eq!(
            (&hosted["model"], &hosted["estimated"], &hosted["sandbox"]),
            (&json!("rehearsal"), &json!(true), &json!(null))
        );
        assert_eq!((&hosted["scripts_run"], &hosted["hosted"]["containers"]), (&json!(2), &json!(1)), "{domain}");
        assert_eq!(hosted["nested_calls"], code["nested_calls"], "{domain}: the same calls");
        // Each script and what it printed is kept, and the ledger tells which of them made a call.
        let folder = program.results().join(domain).join(hosted["run"].as_str().unwrap());
        assert!(fs::read_to_string(folder.join("scripts/01.out")).unwrap().starts_with("EXIT CODE 1\n"), "{domain}");
        assert!(folder.join("scripts/02.py").is_file());
        let ledger = fs::read_to_string(folder.join("ledger.jsonl")).unwrap();
        assert!(ledger.contains("\"script\":1") && ledger.contains("\"script\":2"), "{domain}");
    }
    let shown = program.run(&["report", "met"]);
    assert!(shown.stdout.contains("loop ÷ hosted"), "{}", shown.stdout);
}

#[test]
fn a_run_can_be_replayed_and_recorded() {
    let program = Program::new();
    let outcome = program.run(&["run", "dnd-encounter", "--mode", "hosted", "--format", "json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let run: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let name = run["run"].as_str().unwrap();
    let replay = program.run(&["replay", name]);
    assert_eq!(replay.code, 0, "{}{}", replay.stdout, replay.stderr);
    let to = program.results().join("copy");
    let record = program.run(&["record", "dnd-encounter", "--from", name, "--to", to.to_str().unwrap()]);
    assert_eq!(record.code, 0, "{}", record.stderr);
    let written = fs::read_to_string(to.join("rehearsal/hosted/2.py")).unwrap();
    assert_eq!(written, fs::read_to_string(workspace().join("domains/dnd-encounter/rehearsal/hosted/2.py")).unwrap());
}

/// An answer of the provider, and what must be so of the request it answers.
struct Turn {
    status: u16,
    body: Value,
    request: fn(&Value) -> bool,
}

fn turn(body: Value) -> Turn {
    Turn { status: 200, body, request: |_| true }
}

fn when(request: fn(&Value) -> bool, body: Value) -> Turn {
    Turn { request, ..turn(body) }
}

struct Case {
    name: &'static str,
    turns: Vec<Turn>,
    stop: &'static str,
    /// Part of `stop_detail`, or of standard error.
    detail: &'static str,
    /// What must be so of the record, in which `scripts_of_calls` are the numbers of the scripts that called.
    run: fn(&Value) -> bool,
}

/// The run of a case, and what was wrong with the requests for it.
fn run_case(case: Case, model: &[&str]) -> (Outcome, Value, Vec<String>) {
    let program = Program::new();
    let turns = Mutex::new((0, case.turns));
    let wrong = std::sync::Arc::new(Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&wrong);
    let server = Server::start(move |request| {
        let document = match (request.method.as_str(), request.target.as_str()) {
            ("GET", path) if path.ends_with("/models") => json!({ "data": [{ "id": "gpt-5.6" }] }),
            ("GET", _) => described(true),
            ("POST", path) if path.ends_with("count_tokens") => json!({ "input_tokens": 5 }),
            _ => {
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                let mut turns = turns.lock().unwrap();
                let number = turns.0;
                turns.0 += 1;
                let Some(turn) = turns.1.get(number) else {
                    told.lock().unwrap().push(format!("request {number} was not expected: {body}"));
                    return answer(
                        400,
                        &[JSON],
                        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "enough" } })
                            .to_string()
                            .as_bytes(),
                    );
                };
                if !(turn.request)(&body) {
                    told.lock().unwrap().push(format!("request {number}: {body}"));
                }
                // The client would try six times, half a minute long.
                let headers: &[&str] = if turn.status == 500 { &[JSON, "x-should-retry: false"] } else { &[JSON] };
                return answer(turn.status, headers, turn.body.to_string().as_bytes());
            }
        };
        answer(200, &[JSON], document.to_string().as_bytes())
    });
    let arguments = ["run", STANDIN, "--mode", "hosted", "--hosted-turns", "2", "--format", "json", "--model"];
    let outcome = asking(&program, &server, &[&arguments, model].concat());
    let mut run: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    if let Some(name) = run["run"].as_str() {
        let ledger = fs::read_to_string(program.results().join("standin").join(name).join("ledger.jsonl")).unwrap();
        let scripts = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["script"].as_u64());
        let mut scripts: Vec<Option<u64>> = scripts.collect();
        // Calls of one pause end in any order.
        scripts.sort_unstable();
        run["scripts_of_calls"] = json!(scripts);
    }
    let wrong = wrong.lock().unwrap().clone();
    (outcome, run, wrong)
}

fn described(programmatic: bool) -> Value {
    json!({ "type": "model", "id": "claude-haiku-5-5", "display_name": "M", "capabilities": {
        "code_execution": { "supported": programmatic }, "server_tools": { "code_execution": { "supported": true } } } })
}

fn asking(program: &Program, server: &Server, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", program.results());
    for key in workbench::env::KEYS {
        command.env_remove(key);
    }
    command.env("ANTHROPIC_API_KEY", "sk-ant-test-0123456789abcdefABCDEF").env("ANTHROPIC_BASE_URL", server.url());
    command.env("OPENAI_API_KEY", "sk-test-0123456789abcdefABCDEF").env("OPENAI_BASE_URL", server.url());
    finish(&mut command, "")
}

#[test]
fn whatever_a_provider_answers_is_a_run_to_its_end() {
    let mut failures = Vec::new();
    const CLAUDE: &str = "anthropic:claude-haiku-5-5";
    let programs = programs::cases().into_iter().map(|case| (case, &["openai:gpt-5.6"][..]));
    let later = answers::of_the_later_version();
    let later = later.into_iter().map(|case| (case, &[CLAUDE, "--code-execution", "20260521"][..]));
    for (case, model) in answers::cases().into_iter().map(|case| (case, &[CLAUDE][..])).chain(programs).chain(later) {
        let (name, stop, detail, is_so) = (case.name, case.stop, case.detail, case.run);
        let (outcome, run, wrong) = run_case(case, model);
        let told = run["stop_detail"].as_str().unwrap_or_default();
        if run["stop"] != stop || !told.contains(detail) || !is_so(&run) || !wrong.is_empty() {
            failures.push(format!(
                "{name}: {wrong:?}\n{}\n{}",
                outcome.stderr,
                serde_json::to_string_pretty(&run).unwrap()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// By hand, a cell finds what it finds in a run.
#[test]
fn a_cell_runs_after_those_before_it() {
    let outcome = Program::new().run(&["script", "met", "domains/met/rehearsal/hosted/2.py"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains(" records read; 12 pieces, 12 kinds"), "{outcome:?}");
    assert!(outcome.stderr.contains("rehearsal/hosted/1.py runs before it"), "{outcome:?}");
}

#[test]
fn tools_are_shown_as_they_are_sent() {
    let program = Program::new();
    let tools = program.json(&["tools", "met", "--hosted"]);
    let tools = tools.as_array().unwrap();
    assert_eq!(tools[0], json!({ "type": "code_execution_20260120", "name": "code_execution" }));
    assert_eq!(tools.len(), 7);
    assert!(tools[1..].iter().all(|tool| tool["allowed_callers"] == json!(["code_execution_20260120"])));
    let one = program.json(&["tools", "met", "get_object", "--hosted"]);
    assert_eq!((one.as_array().unwrap().len(), &one[1]["name"]), (2, &json!("get_object")));
}

/// All modes of one comparison stand in one table, whatever a provider calls its sandbox; and it can be gone on with.
#[test]
fn hosted_is_compared_with_the_other_modes_of_a_model() {
    let program = Program::new();
    let server = Server::start(|request| match request.method.as_str() {
        "GET" => answer(200, &[JSON], described(true).to_string().as_bytes()),
        _ if request.target.ends_with("count_tokens") => answer(200, &[JSON], br#"{"input_tokens":5}"#),
        _ => answer(200, &[JSON], answers::done().to_string().as_bytes()),
    });
    let model = ["--model", "anthropic:claude-haiku-5-5", "--modes", "loop,code,hosted", "--runs", "1"];
    let outcome = asking(&program, &server, &[&["compare", STANDIN], &model[..]].concat());
    for part in ["tokens read, loop ÷ code: ", "tokens read, loop ÷ hosted: ", "tokens read, code ÷ hosted: "] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome:?}");
    }
    assert_eq!(outcome.stdout.matches("standin · anthropic:claude-haiku-5-5").count(), 1, "{outcome:?}");
    let resumed = asking(&program, &server, &[&["compare", STANDIN, "--resume"], &model[..]].concat());
    assert!(resumed.stderr.contains("3 decided, 0 to be made"), "{resumed:?}");
}

/// Keeps all tools of the stand-in for the model itself.
const ALL_DIRECT: &str = r#"
[callers]
search_collection = "direct"
get_object = "direct"
download_image = "direct"
query_database = "direct"
save_file = "direct"
noop = "direct"
"#;

#[test]
fn the_fallback_makes_runs_of_mode_code() {
    let program = Program::new();
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("domain.toml", "domain.toml"),
        ("rehearsal/code/2.py", "rehearsal/code/1.py"),
        ("rehearsal/code/2.py", "rehearsal/hosted/1.py"),
    ] {
        let to = folder.path().join("standin").join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(workspace().join(STANDIN).join(from), to).unwrap();
    }
    let place = folder.path().join("standin");
    let manifest = fs::read_to_string(place.join("domain.toml")).unwrap();
    fs::write(place.join("domain.toml"), manifest + ALL_DIRECT).unwrap();
    let place = place.to_str().unwrap();
    let table: [(&[&str], &[&str]); 3] = [
        (&["run", place, "--mode", "hosted"], &["code"]),
        (&["compare", place, "--modes", "hosted,code", "--runs", "1"], &["code"]),
        (&["compare", place, "--modes", "hosted", "--runs", "2"], &["code", "code"]),
    ];
    for (arguments, modes) in table {
        let asked = [arguments, &["--hosted-fallback", "code", "--format", "json"]].concat();
        let outcome = program.run(&asked);
        let told = "note: mode code takes the place of hosted: standin: mode hosted has no tool that scripts may call";
        assert!(outcome.stderr.contains(told), "{arguments:?}: {}", outcome.stderr);
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let runs = document["runs"].as_array().cloned().unwrap_or_else(|| vec![document.clone()]);
        let made: Vec<&str> = runs.iter().map(|run| run["mode"].as_str().unwrap()).collect();
        assert_eq!(made, modes, "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_hosted_is_told_before_anything_is_asked() {
    let program = Program::new();
    let start = |programmatic| {
        Server::start(move |request| match request.method.as_str() {
            "GET" => answer(200, &[JSON], described(programmatic).to_string().as_bytes()),
            _ => answer(200, &[JSON], json!({ "input_tokens": 5 }).to_string().as_bytes()),
        })
    };
    let (server, able) = (start(false), start(true));
    let model = ["--model", "anthropic:claude-haiku-5-5"];
    let folder = tempfile::tempdir().unwrap();
    let manifest = fs::read_to_string(workspace().join(STANDIN).join("domain.toml")).unwrap();
    let other = |change: &dyn Fn(&str) -> String| {
        let place = tempfile::tempdir_in(folder.path()).unwrap().keep().join("standin");
        fs::create_dir(&place).unwrap();
        let library = workspace().join(STANDIN);
        for entry in fs::read_dir(&library).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), place.join(entry.file_name())).unwrap();
            }
        }
        fs::write(place.join("domain.toml"), change(&manifest)).unwrap();
        place.display().to_string()
    };
    let kept = other(&|text| text.replacen("[domain]", "[domain]\nzero_data_retention = true", 1));
    let unknown = other(&|text| format!("{text}\n[callers]\nnop = \"both\"\n"));
    let direct = other(&|text| text.to_owned() + ALL_DIRECT);
    let table: [(&[&str], &str); 8] = [
        (&["run", STANDIN, "--mode", "hosted"], "its scripts cannot call our tools"),
        (&["compare", STANDIN, "--modes", "loop,hosted"], "hint: take a model that can"),
        (&["run", &kept, "--mode", "hosted"], "zero_data_retention"),
        (&["run", STANDIN, "--mode", "code", "--hosted-fallback", "code"], "no run is of that mode"),
        (
            &["run", &unknown, "--mode", "hosted"],
            "`[callers]` names `nop`, and there is no such tool; did you mean `noop`?",
        ),
        (&["run", &direct, "--mode", "hosted"], "standin: mode hosted has no tool that scripts may call"),
        (
            &["compare", &direct, "--modes", "loop,hosted"],
            "hint: set one to \"code\" or \"both\", or compare in mode loop, or",
        ),
        (&["run", STANDIN, "--mode", "hostde"], "the modes are serial, loop, code and hosted"),
    ];
    for (arguments, words) in table {
        // Of a model that can, what is in the way lies in the domain.
        let is_able = words.contains("callers") || arguments[1] == direct;
        let server = if is_able { &able } else { &server };
        let outcome = asking(&program, server, &[arguments, &model].concat());
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{arguments:?}: {}", outcome.stderr);
    }
    for server in [&server, &able] {
        let asked = server.requests().into_iter().filter(|it| it.target.ends_with("/messages")).count();
        assert_eq!(asked, 0, "nothing was paid for");
    }
    let unhosted = ["run", "met", "--mode", "hosted", "--model", "ollama:qwen3"];
    let outcome = asking(&program, &server, &unhosted);
    assert!(outcome.stderr.contains("workbench serve --model"), "{}", outcome.stderr);
}
