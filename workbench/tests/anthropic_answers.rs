//! Whatever a model behind the Messages API answers: each case is a run to its end.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/exhibit.rs"]
mod exhibit;
#[path = "support/messages_api/mod.rs"]
mod messages_api;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::fs;

use exhibit::{call, standin_run, text, turn};
use messages_api::{MessagesApi, Script};
use program::Program;
use serde_json::{Value, json};

/// What a model says, and how the run ends.
struct Case {
    name: &'static str,
    turns: Vec<Value>,
    stop: &'static str,
    /// A part of `stop_detail`; nothing where there is none.
    detail: &'static str,
    /// What else is so; nothing when all is well.
    wrong: fn(&Seen<'_>) -> Option<String>,
}

/// What a run left.
struct Seen<'a> {
    run: &'a Value,
    /// The last request for messages.
    last: Value,
    ledger: &'a str,
    requests: usize,
}

impl Seen<'_> {
    /// The results of calls in the last message.
    fn results(&self) -> Vec<&Value> {
        self.last["messages"].as_array().unwrap().last().unwrap()["content"].as_array().unwrap().iter().collect()
    }
}

fn fine(_: &Seen<'_>) -> Option<String> {
    None
}

fn unless(is_so: bool, otherwise: impl ToString) -> Option<String> {
    (!is_so).then(|| otherwise.to_string())
}

fn noop(x: Value) -> Value {
    call("noop", json!({ "x": x }))
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

fn with(content: &[Value], fields: Value) -> Value {
    let mut turn = turn(content);
    turn.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    turn
}

fn done() -> Value {
    turn(&[text("Done.")])
}

fn is_estimated(seen: &Seen<'_>) -> Option<String> {
    let turns = seen.run["per_turn"].as_array().unwrap();
    let is_told = turns.iter().all(|turn| (1..100_000).contains(&turn["tokens_read"].as_u64().unwrap()));
    unless(seen.run["estimated"] == true && is_told, &seen.run["per_turn"])
}

fn is_told_unknown(seen: &Seen<'_>) -> Option<String> {
    let result = seen.results()[0];
    let is_so = result["is_error"] == true && result["content"].as_str().unwrap().starts_with("ERROR: unknown tool");
    unless(is_so, result)
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let case = |name, turns: &[Value], stop, detail, wrong| Case { name, turns: turns.to_vec(), stop, detail, wrong };
    vec![
        case("no content", &[turn(&[])], "end_turn", "", |seen| unless(seen.run["final_text"] == "", "words")),
        case(
            "a refusal",
            &[with(
                &[text("I cannot.")],
                json!({ "stop_reason": "refusal", "stop_details": { "category": "cyber", "explanation": "No." } }),
            )],
            "refusal",
            "cyber: No.",
            fine,
        ),
        case(
            "a refusal without a reason",
            &[with(&[text("I cannot.")], json!({ "stop_reason": "refusal" }))],
            "refusal",
            "I cannot.",
            fine,
        ),
        case("an unknown tool", &[turn(&[call("nope", json!({}))]), done()], "end_turn", "", is_told_unknown),
        case("a tool without a name", &[turn(&[call("", json!({}))]), done()], "end_turn", "", is_told_unknown),
        case("arguments that are a list", &[turn(&[call("noop", json!([1]))]), done()], "end_turn", "", |seen| {
            let result = seen.results()[0]["content"].as_str().unwrap();
            unless(result.starts_with("ERROR: ") && result.contains("JSON object"), result)
        }),
        case("arguments that are a text", &[turn(&[call("noop", json!("x = 1"))]), done()], "end_turn", "", |seen| {
            let result = seen.results()[0]["content"].as_str().unwrap();
            unless(result.starts_with("ERROR: ") && result.contains("JSON"), result)
        }),
        case("arguments that are none", &[turn(&[call("noop", Value::Null)]), done()], "end_turn", "", |seen| {
            unless(seen.results()[0]["is_error"] == true, seen.results()[0])
        }),
        case(
            "a call without an id",
            &[turn(&[json!({
                "type": "tool_use", "id": "", "name": "noop", "input": {}
            })])],
            "model_error",
            "has no id",
            fine,
        ),
        case(
            "calls of one id",
            &[turn(&[1, 2].map(|x| json!({ "type": "tool_use", "id": "a", "name": "noop", "input": { "x": x } })))],
            "model_error",
            "two of its calls have the id `a`",
            fine,
        ),
        case("a megabyte of arguments", &[turn(&[noop("x".repeat(1 << 20).into())]), done()], "end_turn", "", |seen| {
            unless(seen.results()[0]["content"].as_str().unwrap().len() > 1 << 20, "it was cut")
        }),
        case("deep arguments", &[turn(&[noop(nested(100))]), done()], "end_turn", "", fine),
        case("arguments too deep to read", &[turn(&[noop(nested(300))])], "model_error", "recursion limit", fine),
        case("200 calls at once", &[turn(&vec![noop(json!(1)); 200]), done()], "end_turn", "", |seen| {
            let is_so = seen.results().len() == 200 && seen.run["tool_calls"] == 200 && seen.requests == 2;
            unless(is_so, seen.results().len())
        }),
        case("calls without end", &[turn(&[noop(json!(1))])], "max_turns", "", |seen| {
            unless(seen.requests == 15, seen.requests)
        }),
        case(
            "an answer that was cut in a call",
            &[
                with(&[text("Now."), noop(json!(1)), noop(json!("cut"))], json!({ "stop_reason": "max_tokens" })),
                done(),
            ],
            "end_turn",
            "",
            |seen| {
                let (results, calls) = (seen.results(), seen.ledger.lines().count());
                let is_told = results[1]["content"].as_str().unwrap().contains("not run: your answer was cut off");
                unless(results.len() == 2 && calls == 1 && is_told && !seen.ledger.contains("cut"), seen.ledger)
            },
        ),
        case(
            "an answer that was cut in words",
            &[with(&[text("And so")], json!({ "stop_reason": "max_tokens" }))],
            "max_tokens",
            "",
            fine,
        ),
        case(
            "a conversation that is full",
            &[with(&[text("And")], json!({ "stop_reason": "model_context_window_exceeded" }))],
            "max_tokens",
            "fills all that the model can read",
            fine,
        ),
        case(
            "an answer that was paused",
            &[with(&[text("Wait.")], json!({ "stop_reason": "pause_turn" })), done()],
            "end_turn",
            "",
            |seen| unless(seen.last["messages"].as_array().unwrap().len() == 2 && seen.requests == 2, &seen.last),
        ),
        case(
            "an empty answer that was paused",
            &[with(&[], json!({ "stop_reason": "pause_turn" }))],
            "model_error",
            "paused 11 times in a row",
            |seen| unless(seen.last["messages"].as_array().unwrap().len() == 1, &seen.last),
        ),
        case(
            "pauses without end",
            &[with(&[text("Wait.")], json!({ "stop_reason": "pause_turn" }))],
            "model_error",
            "paused 11 times in a row",
            |seen| unless(seen.requests == 11, seen.requests),
        ),
        case(
            "a reason not known, with a call",
            &[
                with(&[noop(json!(1))], json!({ "stop_reason": "because" })),
                with(&[text("Done.")], json!({ "stop_reason": "because" })),
            ],
            "end_turn",
            "a reason not known here: `because`",
            |seen| unless(seen.requests == 2, seen.requests),
        ),
        case(
            "blocks not known",
            &[
                turn(&[
                    json!({ "type": "redacted_thinking", "data": "AAsig=" }),
                    json!({ "type": "of_the_future", "z": [1.50, null] }),
                    json!({ "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {} }),
                    json!({ "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [] }),
                    noop(json!(1)),
                ]),
                done(),
            ],
            "end_turn",
            "",
            |seen| unless(seen.requests == 2, seen.requests),
        ),
        case("no usage", &[with(&[noop(json!(1))], json!({ "usage": null })), done()], "end_turn", "", |seen| {
            unless(seen.run["estimated"] == true, &seen.run["per_turn"])
        }),
        case(
            "a negative usage",
            &[with(&[text("Done.")], json!({ "usage": { "input_tokens": -7, "output_tokens": 1 } }))],
            "end_turn",
            "",
            is_estimated,
        ),
        case(
            "an absurd usage",
            &[
                with(&[noop(json!(1))], json!({ "usage": { "input_tokens": u64::MAX, "output_tokens": u64::MAX } })),
                with(&[text("Done.")], json!({ "usage": { "input_tokens": u64::MAX, "output_tokens": 1e300 } })),
            ],
            "end_turn",
            "",
            is_estimated,
        ),
        case(
            "the largest usage there is",
            &[with(
                &[noop(json!(1))],
                json!({ "usage": {
                "input_tokens": 1_000_000_000, "output_tokens": 1_000_000_000,
                "cache_read_input_tokens": 1_000_000_000, "cache_creation_input_tokens": 1_000_000_000,
            } }),
            )],
            "max_turns",
            "",
            |seen| unless(seen.run["tokens_read"] == 45_000_000_000_u64, &seen.run["tokens_read"]),
        ),
        case("content that is a text", &[json!({ "content": "Hello." })], "model_error", "no list of blocks", fine),
        case("a block without a type", &[turn(&[json!({ "text": "x" })])], "model_error", "has no type", fine),
        case(
            "a document of an error",
            &[json!({ "content": null, "type": "error", "error": { "type": "billing_error", "message": "no money" } })],
            "model_error",
            "answered 200 (billing_error: no money; request req_test): an error in the place of an answer",
            fine,
        ),
    ]
}

/// The cases of one share, so that shares run at once.
fn assert_share(share: usize, of: usize) {
    let mut wrong = Vec::new();
    for case in cases().into_iter().skip(share).step_by(of) {
        let (program, api) = (Program::new(), MessagesApi::start(Script::of(&case.turns)));
        let (outcome, run) = standin_run(&program, &api, &["--mode", "loop", "--loop-turns", "15"]);
        let told = run["stop_detail"].as_str().unwrap_or_default();
        if run["stop"] != case.stop || !told.contains(case.detail) || (case.detail.is_empty() && !told.is_empty()) {
            wrong.push(format!("{}: {} ({told}): {outcome:?}", case.name, run["stop"]));
            continue;
        }
        wrong.extend(api.errors().into_iter().map(|error| format!("{}: the API refused: {error}", case.name)));
        let folder = program.results().join("standin").join(run["run"].as_str().unwrap());
        let ledger = fs::read_to_string(folder.join("ledger.jsonl")).unwrap_or_default();
        let asked: Vec<Value> = api.served().into_iter().filter(|it| it.what == "messages").map(|it| it.body).collect();
        let seen = Seen { run: &run, last: asked.last().unwrap().clone(), ledger: &ledger, requests: asked.len() };
        wrong.extend((case.wrong)(&seen).map(|what| format!("{}: {what:.300}", case.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_answer_ends_in_a_turn_or_a_clear_text_1() {
    assert_share(0, 2);
}

#[test]
fn every_answer_ends_in_a_turn_or_a_clear_text_2() {
    assert_share(1, 2);
}
