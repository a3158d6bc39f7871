//! Whole models behind the server: over chat completions, whatever comes back from there, and the scripts of a domain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::program::{Program, finish, workspace};
use crate::refusals::{is_listed, kind_of};
use crate::served::{Answer, KEYS, Served, next, question};
use crate::server::{Reply, Request, Server, answer, json as document};

/// Code that the model writes where it was offered to run some.
const CODE: &str = "print(await get_order({'id': 1}))";

/// Nobody asks again after this.
const NO_RETRY: &[&str] = &["content-type: application/json", "x-should-retry: false"];

/// A server of chat completions whose model writes one cell and then says what it printed; while `fails`, it answers `fault`.
fn behind(fails: &Arc<AtomicBool>, fault: Reply) -> Server {
    let fails = Arc::clone(fails);
    Server::start(move |request: &Request| match request.target.as_str() {
        "/v1/models" => document(&json!({ "data": [{ "id": "test-model" }] }).to_string()),
        "/api/show" => document(&json!({ "capabilities": ["completion", "tools"] }).to_string()),
        _ if fails.load(Ordering::SeqCst) => fault.clone(),
        _ => says(&serde_json::from_slice(&request.body).unwrap()),
    })
}

fn says(asked: &Value) -> Reply {
    let last = asked["messages"].as_array().unwrap().last().unwrap();
    let (message, reason) = if last["role"] == "tool" {
        let words = format!("It printed {}", last["content"].as_str().unwrap());
        (json!({ "role": "assistant", "content": words }), "stop")
    } else {
        let function = json!({ "name": "code_execution", "arguments": json!({ "code": CODE }).to_string() });
        let calls = json!([{ "id": "call_1", "type": "function", "function": function }]);
        (json!({ "role": "assistant", "content": "", "tool_calls": calls }), "tool_calls")
    };
    let usage = json!({ "prompt_tokens": 70, "completion_tokens": 7, "total_tokens": 77 });
    let choices = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
    document(&json!({ "object": "chat.completion", "choices": choices, "usage": usage }).to_string())
}

fn served(behind: &Server) -> Served {
    let arguments =
        ["--model", "ollama:test-model", "--base-url", &behind.url(), "--as", "turns", "--cell-seconds", "7"];
    Served::with(&arguments, &[])
}

/// The same request again with what was said to it, as whoever is paused sends it.
fn again(asked: &Value, answer: &Answer) -> Value {
    let mut again = next(asked, answer, &json!(""));
    again["messages"].as_array_mut().unwrap().pop();
    again
}

#[tokio::test]
async fn any_model_that_calls_tools_gains_programmatic_calling() {
    let behind = behind(&Arc::default(), Reply::Close(Vec::new()));
    let served = served(&behind);
    let answer = served.post(&question()).await;
    assert_eq!(answer.body["stop_reason"], "tool_use", "{answer:?}");
    assert_eq!(answer.blocks("server_tool_use").next().unwrap()["input"], json!({ "code": CODE }));
    let call = answer.blocks("tool_use").next().unwrap();
    assert_eq!((&call["name"], &call["input"]), (&json!("get_order"), &json!({ "id": 1 })));
    let done = served.post(&next(&question(), &answer, &json!("ten"))).await;
    assert_eq!(done.results()[0]["stdout"], "ten\n");
    assert_eq!(done.blocks("text").next().unwrap()["text"], "It printed ten\n");
    assert_eq!(done.body["stop_reason"], "end_turn");
    for usage in [&answer.body["usage"], &done.body["usage"]] {
        assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(70), &json!(7)));
    }

    let posts: Vec<Request> =
        behind.requests().into_iter().filter(|request| request.target == "/v1/chat/completions").collect();
    assert_eq!(posts.len(), 2, "a request that resumes code asks no model until it has ended");
    let asked: Value = serde_json::from_slice(&posts[1].body).unwrap();
    let tools: Vec<&Value> = asked["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["note", "code_execution"], "what code calls is no tool of the model's");
    let told = asked["tools"][1]["function"]["description"].as_str().unwrap();
    assert!(told.contains("async def get_order(arguments: dict)") && told.contains("compute for 7 s"), "{told}");
    assert!(!asked["messages"].to_string().contains("\"toolu_"), "calls of code are no turns of the model's: {asked}");
}

/// How the model behind fails, the status of our answer, and how its text goes on.
type Fault = (Reply, u16, &'static str);

fn faults() -> Vec<Fault> {
    let error = |status: u16, code: &str, message: &str| {
        let body = json!({ "error": { "message": message, "type": "error", "code": code } });
        answer(status, NO_RETRY, body.to_string().as_bytes())
    };
    vec![
        (error(401, "invalid_api_key", "Who are you?"), 400, "the model behind this server: "),
        (error(404, "model_not_found", "No such model."), 400, "the model behind this server: "),
        (error(429, "rate_limit_exceeded", "Slower."), 429, "the model behind this server: "),
        (error(500, "server_error", "Broken."), 500, "the model behind this server: "),
        (error(503, "overloaded", "Later."), 529, "the model behind this server: "),
        (
            error(400, "context_length_exceeded", "This model's maximum context length is 100 tokens."),
            400,
            "prompt is too long: the model behind this server: ",
        ),
        (document("{\"choices\": []}"), 500, "the model behind this server: "),
        (Reply::Close(Vec::new()), 529, "the model behind this server: "),
    ]
}

/// What went otherwise than it should before and behind a fault.
async fn wrong_with((fault, status, begins): Fault) -> Option<String> {
    let fails = Arc::new(AtomicBool::new(false));
    let behind = behind(&fails, fault);
    let served = served(&behind);
    let waiting = served.post(&question()).await;
    let resumed = next(&question(), &waiting, &json!("1"));

    fails.store(true, Ordering::SeqCst);
    let paused = served.post(&resumed).await;
    let printed = paused.results().first().map(|result| result["stdout"].clone());
    if paused.body["stop_reason"] != "pause_turn" || printed != Some(json!("1\n")) {
        return Some(format!("what has run is lost: {paused:?}"));
    }
    served.tells("the answer is paused; the model behind this server: ").await;
    let resumed = again(&resumed, &paused);
    let refused = served.post(&resumed).await;
    let kind = refused.body["error"]["type"].as_str().unwrap_or_default();
    let is_told = refused.message().starts_with(begins) && is_listed(refused.status, refused.message());
    if (refused.status, kind) != (status, kind_of(status)) || !is_told {
        return Some(format!("{status} {begins}: {refused:?}"));
    }
    fails.store(false, Ordering::SeqCst);
    let done = served.post(&resumed).await;
    let text = done.blocks("text").next().map(|block| block["text"].clone());
    (text != Some(json!("It printed 1\n"))).then(|| format!("it does not go on: {done:?}"))
}

#[tokio::test]
async fn a_model_that_fails_is_told_and_costs_nothing_that_has_run() {
    let wrong: Vec<String> = join_all(faults().into_iter().map(wrong_with)).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_domain_behind_the_server_is_run_by_the_workbench_over_the_wire() {
    let served = Served::with(&["met", "--as", "claude-haiku-5-5"], &[]);
    let program = Program::new();
    let run = |model: &[&str]| -> Value {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(["run", "met", "--mode", "hosted", "--format", "json"]).args(model).current_dir(workspace());
        command.env("WORKBENCH_RESULTS", program.results()).env_remove("WORKBENCH_ROUTES");
        let outcome = finish(command.env("ANTHROPIC_API_KEY", KEYS[0]), "");
        assert_eq!(outcome.code, 0, "{outcome:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let asked = run(&["--model", "anthropic:claude-haiku-5-5", "--base-url", served.url()]);
    assert_eq!((&asked["verify"]["ok"], &asked["stop"]), (&json!(true), &json!("end_turn")), "{asked:#}");
    assert_eq!((&asked["scripts_run"], &asked["hosted"]["containers"]), (&json!(2), &json!(1)), "{asked:#}");
    let rehearsed = run(&[]);
    for field in ["nested_calls", "tokens_read", "tokens_written", "final_text"] {
        assert_eq!(asked[field], rehearsed[field], "{field}: the same scripts behind the same server");
    }
}
