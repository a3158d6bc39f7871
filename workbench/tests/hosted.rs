//! Mode `hosted` at its real boundary: the domains rehearse over HTTP behind a server of our own, and whatever a provider
//! answers is a run to its end.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/program.rs"]
mod program;
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

fn said(content: Value, stop: &str, container: Option<&str>, read: u64) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-5-5", "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "container": container.map(|id| json!({ "id": id, "expires_at": "2026-11-29T12:05:00Z" })),
        "usage": { "input_tokens": read, "output_tokens": 5 },
    })
}

fn script(id: &str) -> Value {
    json!({ "type": "server_tool_use", "id": id, "name": "code_execution", "caller": { "type": "direct" },
            "input": { "code": "print(await noop({'x': 1}))" } })
}

fn call(id: &str, caller: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "noop", "input": { "x": 1 }, "caller": caller })
}

fn from(script: &str) -> Value {
    json!({ "type": "code_execution_20260120", "tool_id": script })
}

fn result(id: &str, content: Value) -> Value {
    json!({ "type": "code_execution_tool_result", "tool_use_id": id, "content": content })
}

fn printed(text: &str) -> Value {
    json!({ "type": "code_execution_result", "stdout": text, "stderr": "", "return_code": 0, "content": [] })
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn done() -> Value {
    said(json!([words("Done.")]), "end_turn", None, 10)
}

/// A script that waits for one call.
fn pause(container: Option<&str>) -> Value {
    said(json!([script("srvtoolu_1"), call("toolu_1", from("srvtoolu_1"))]), "tool_use", container, 100)
}

fn error(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

fn last(request: &Value) -> &Vec<Value> {
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_array().unwrap()
}

/// Whether a request brings results and nothing else, to a container.
fn resumes(request: &Value, container: &str, results: usize) -> bool {
    let tools = request["tools"].as_array().unwrap();
    let declared = tools[0] == json!({ "type": "code_execution_20260120", "name": "code_execution" });
    let callable = tools[1..].iter().all(|tool| tool["allowed_callers"] == json!(["code_execution_20260120"]));
    let blocks = last(request);
    let is_text = |block: &Value| block["type"] == "tool_result" && block["content"].is_string();
    declared && callable && request["container"] == container && blocks.len() == results && blocks.iter().all(is_text)
}

struct Case {
    name: &'static str,
    turns: Vec<Turn>,
    stop: &'static str,
    /// Part of `stop_detail`, or of standard error.
    detail: &'static str,
    /// What must be so of the record.
    run: fn(&Value) -> bool,
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let case = |name, turns: Vec<Turn>, stop, detail, run| Case { name, turns, stop, detail, run };
    let ended = || said(json!([result("srvtoolu_1", printed("1\n")), words("Done.")]), "end_turn", Some("c_1"), 120);
    vec![
        case(
            "a script that pauses for two calls at once, and for a third",
            vec![
                when(
                    |request| request.get("container").is_none(),
                    said(
                        json!([
                            words("I count."),
                            script("srvtoolu_1"),
                            call("a", from("srvtoolu_1")),
                            call("b", from("srvtoolu_1"))
                        ]),
                        "tool_use",
                        Some("c_1"),
                        100,
                    ),
                ),
                when(
                    |request| resumes(request, "c_1", 2),
                    said(json!([call("c", from("srvtoolu_1"))]), "tool_use", Some("c_1"), 0),
                ),
                when(|request| resumes(request, "c_1", 1), ended()),
            ],
            "end_turn",
            "",
            |run| {
                run["nested_calls"] == 3
                    && run["tool_calls"] == 1
                    && run["tokens_read"] == 220
                    && run["per_turn"][1]["tokens_read"] == 0
                    && run["estimated"] == false
                    && run["hosted"]["resumes"] == 2
                    && run["hosted"]["containers"] == 1
                    && run["hosted"]["container_seconds"] == 300.0
            },
        ),
        case(
            "an older caller, blocks that nobody knows, and a pause that names no container",
            vec![
                turn(said(
                    json!([{ "type": "new_block", "x": [1] }, script("srvtoolu_1"),
                           call("a", json!({ "type": "code_execution_20250825", "tool_id": "srvtoolu_1" }))]),
                    "tool_use",
                    Some("c_1"),
                    100,
                )),
                when(
                    |request| resumes(request, "c_1", 1),
                    said(json!([call("b", from("srvtoolu_1"))]), "tool_use", None, 0),
                ),
                when(|request| resumes(request, "c_1", 1), ended()),
            ],
            "end_turn",
            "",
            |run| run["nested_calls"] == 2 && run["scripts_run"] == 1,
        ),
        case(
            "calls from code and no container at all",
            vec![turn(pause(None))],
            "model_error",
            "no container is named",
            |run| run["nested_calls"] == 0,
        ),
        case(
            "a container that is gone while its script waits",
            vec![
                turn(pause(Some("c_1"))),
                Turn { status: 404, ..turn(error("not_found_error", "Container not found: c_1")) },
            ],
            "model_error",
            "the turn is lost",
            |run| run["nested_calls"] == 1,
        ),
        case(
            "a container that is gone when nothing waits",
            vec![
                turn(said(
                    json!([script("srvtoolu_1"), result("srvtoolu_1", printed("1\n"))]),
                    "pause_turn",
                    Some("c_1"),
                    100,
                )),
                Turn {
                    status: 404,
                    ..when(
                        |request| request["container"] == "c_1",
                        error("not_found_error", "Container not found: c_1"),
                    )
                },
                when(|request| request.get("container").is_none(), done()),
            ],
            "end_turn",
            "",
            |run| run["deviations"][0].as_str().unwrap().starts_with("container lost"),
        ),
        case(
            "an overload in the middle of a pause",
            vec![
                turn(pause(Some("c_1"))),
                Turn { status: 529, ..turn(error("overloaded_error", "Overloaded")) },
                when(|request| resumes(request, "c_1", 1), ended()),
            ],
            "end_turn",
            "",
            |run| run["retries"] == 1 && run["nested_calls"] == 1,
        ),
        case(
            "two calls of one id",
            vec![turn(said(
                json!([script("srvtoolu_1"), call("a", from("srvtoolu_1")), call("a", from("srvtoolu_1"))]),
                "tool_use",
                Some("c_1"),
                100,
            ))],
            "model_error",
            "two of its calls have the id `a`",
            |_| true,
        ),
        case(
            "the model itself calls a tool that is for scripts, beside one that calls it",
            vec![
                turn(said(
                    json!([
                        script("srvtoolu_1"),
                        call("own", json!({ "type": "direct" })),
                        call("a", from("srvtoolu_1"))
                    ]),
                    "tool_use",
                    Some("c_1"),
                    100,
                )),
                when(|request| resumes(request, "c_1", 2), ended()),
            ],
            "end_turn",
            "",
            |run| run["hosted"]["direct_calls"] == 1 && run["nested_calls"] == 1 && run["tool_calls"] == 2,
        ),
        case(
            "a turn that is paused goes on with what it said",
            vec![
                turn(said(
                    json!([words("wait"), script("srvtoolu_1"), result("srvtoolu_1", printed("1\n"))]),
                    "pause_turn",
                    Some("c_1"),
                    9,
                )),
                when(|request| request["messages"].as_array().unwrap().last().unwrap()["role"] == "assistant", done()),
            ],
            "end_turn",
            "",
            |run| run["model_turns"] == 2,
        ),
        case(
            "errors, files, encrypted output, and the tools beside",
            vec![turn(said(
                json!([
                    script("s1"), result("s1", json!({ "type": "code_execution_tool_result_error", "error_code": "unavailable" })),
                    script("s2"), result("s2", json!({ "type": "encrypted_code_execution_result", "encrypted_stdout": "xx",
                        "stderr": "", "return_code": 0, "content": [{ "type": "code_execution_output", "file_id": "file_1" }] })),
                    { "type": "server_tool_use", "id": "s3", "name": "bash_code_execution", "input": { "command": "ls" } },
                    { "type": "bash_code_execution_tool_result", "tool_use_id": "s3", "content":
                        { "type": "bash_code_execution_tool_result_error", "error_code": "brand_new_code" } },
                    { "type": "code_execution_tool_result", "tool_use_id": "nobody", "content": printed("x") },
                    words("Done."),
                ]),
                "end_turn",
                Some("c_1"),
                100,
            ))],
            "end_turn",
            "",
            |run| {
                run["hosted"]["errors"] == json!({ "unavailable": 1, "brand_new_code": 1 })
                    && run["hosted"]["files"] == json!(["file_1"])
                    && run["scripts_run"] == 3
            },
        ),
    ]
}

/// An answer of the Responses API.
fn response(output: Value, read: u64) -> Value {
    json!({ "id": "resp_1", "object": "response", "status": "completed", "error": null, "output": output,
            "usage": { "input_tokens": read, "output_tokens": 7, "input_tokens_details": { "cached_tokens": 0 } } })
}

fn program() -> Value {
    json!({ "type": "program", "id": "prog_1", "call_id": "call_p", "fingerprint": "opaque==",
            "code": "text(await tools.noop({x: 1}))" })
}

fn by_program(id: &str) -> Value {
    json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": "noop", "arguments": "{\"x\":1}",
            "caller": { "type": "program", "caller_id": "call_p", "extra": [1] } })
}

fn message(text: &str) -> Value {
    json!({ "type": "message", "id": "m_1", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
}

/// Whether the items of the answer before came back in their place, with these results at the end.
fn brings(request: &Value, ids: &[&str]) -> bool {
    let items = request["input"].as_array().unwrap();
    let results = &items[items.len() - ids.len()..];
    let pairs = results.iter().zip(ids).all(|(item, id)| {
        item["type"] == "function_call_output"
            && item["call_id"] == *id
            && item["output"].is_string()
            && item["caller"] == json!({ "type": "program", "caller_id": "call_p", "extra": [1] })
    });
    let declared = request["tools"][0] == json!({ "type": "programmatic_tool_calling" })
        && request["tools"][1]["allowed_callers"] == json!(["programmatic"]);
    pairs && declared && items.contains(&program()) && request["store"] == false
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn cases_of_programs() -> Vec<Case> {
    let case = |name, turns: Vec<Turn>, stop, detail, run| Case { name, turns, stop, detail, run };
    let output = |result: &str| json!({ "type": "program_output", "id": "po_1", "call_id": "call_p", "result": result, "status": "completed" });
    let thought = || json!({ "type": "reasoning", "id": "r_1", "encrypted_content": "secret" });
    vec![
        case(
            "a program that calls twice at once, and once more",
            vec![
                when(
                    |request| request["instructions"].as_str().unwrap().contains("JSON.parse"),
                    response(json!([thought(), program(), by_program("a"), by_program("b")]), 100),
                ),
                when(|request| brings(request, &["a", "b"]), response(json!([by_program("c")]), 0)),
                when(|request| brings(request, &["c"]), response(json!([output("9")]), 20)),
                turn(response(json!([message("It is 9.")]), 30)),
            ],
            "end_turn",
            "",
            |run| {
                run["nested_calls"] == 3
                    && run["scripts_run"] == 1
                    && run["tokens_read"] == 150
                    && run["per_turn"][1]["tokens_read"] == 0
                    && run["estimated"] == false
                    && run["final_text"] == "It is 9."
                    && run["hosted"]["containers"] == 0
            },
        ),
        case(
            "a direct call of a tool that is for programs",
            vec![
                turn(response(
                    json!([{ "type": "function_call", "call_id": "own", "name": "noop", "arguments": "{\"x\":2}" }]),
                    10,
                )),
                when(
                    |request| request["input"].as_array().unwrap().last().unwrap().get("caller").is_none(),
                    response(json!([message("Done.")]), 10),
                ),
            ],
            "end_turn",
            "",
            |run| run["hosted"]["direct_calls"] == 1 && run["tool_calls"] == 1,
        ),
        case(
            "an answer that is cut",
            vec![turn(json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
                              "output": [message("I beg")] }))],
            "max_tokens",
            "max_output_tokens",
            |run| run["estimated"] == true,
        ),
        case(
            "a server without this API",
            vec![Turn { status: 404, ..turn(json!({ "error": { "message": "Not Found" } })) }],
            "model_error",
            "mode hosted needs both",
            |_| true,
        ),
        case("no output", vec![turn(json!({ "status": "completed" }))], "model_error", "no list `output`", |_| true),
        case(
            "two calls of one id",
            vec![turn(response(json!([program(), by_program("a"), by_program("a")]), 1))],
            "model_error",
            "two calls of the id `a`",
            |_| true,
        ),
    ]
}

/// The run of a case, and what was wrong with the requests for it.
fn run_case(case: Case, model: &str) -> (Outcome, Value, Vec<String>) {
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
                    return answer(400, &[JSON], error("invalid_request_error", "enough").to_string().as_bytes());
                };
                if !(turn.request)(&body) {
                    told.lock().unwrap().push(format!("request {number}: {body}"));
                }
                return answer(turn.status, &[JSON], turn.body.to_string().as_bytes());
            }
        };
        answer(200, &[JSON], document.to_string().as_bytes())
    });
    let arguments = ["run", STANDIN, "--mode", "hosted", "--model", model, "--format", "json"];
    let outcome = asking(&program, &server, &arguments);
    let run = serde_json::from_str(&outcome.stdout).unwrap_or_default();
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
    let programs = cases_of_programs().into_iter().map(|case| (case, "openai:gpt-5.6"));
    for (case, model) in cases().into_iter().map(|case| (case, "anthropic:claude-haiku-5-5")).chain(programs) {
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

#[test]
fn what_cannot_be_hosted_is_told_before_anything_is_asked() {
    let program = Program::new();
    let server = Server::start(|request| match request.method.as_str() {
        "GET" => answer(200, &[JSON], described(false).to_string().as_bytes()),
        _ => answer(200, &[JSON], json!({ "input_tokens": 5 }).to_string().as_bytes()),
    });
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
    let table: [(&[&str], &str); 5] = [
        (&["run", STANDIN, "--mode", "hosted"], "its scripts cannot call our tools"),
        (&["compare", STANDIN, "--modes", "loop,hosted"], "hint: take a model that can"),
        (&["run", &kept, "--mode", "hosted"], "zero_data_retention"),
        (&["run", STANDIN, "--mode", "code", "--hosted-fallback", "code"], "no run is of that mode"),
        (&["run", STANDIN, "--mode", "hostde"], "the modes are serial, loop, code and hosted"),
    ];
    for (arguments, words) in table {
        let outcome = asking(&program, &server, &[arguments, &model].concat());
        assert_eq!(outcome.code, 2, "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{arguments:?}: {}", outcome.stderr);
    }
    let asked = server.requests().into_iter().filter(|it| it.target.ends_with("/messages")).count();
    assert_eq!(asked, 0, "nothing was paid for");
    let unhosted = ["run", "met", "--mode", "hosted", "--model", "ollama:qwen3"];
    let outcome = asking(&program, &server, &unhosted);
    assert!(outcome.stderr.contains("workbench serve --model"), "{}", outcome.stderr);
}
