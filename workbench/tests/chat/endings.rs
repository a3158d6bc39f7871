//! How a run ends when the model says its last words, or the server says something else.

use serde_json::{Value, json};

use crate::asking::ask;
use crate::program::{Outcome, Program};
use crate::server::answer;
use crate::strict_server::{Asked, MODEL, Said, Shape, StrictServer, error};

const DOMAIN: &str = "workbench/tests/domains/standin";

/// A run of mode loop in which the server answers as the test says; its record.
fn run(
    shape: Shape,
    more: &[&str],
    model: impl Fn(&Asked) -> Said + Send + Sync + 'static,
) -> (Value, StrictServer, Outcome) {
    let server = StrictServer::start(shape, None, model);
    let provider = match shape {
        Shape::OpenAi => "openai",
        Shape::Ollama => "ollama",
        Shape::LlamaCpp => "llamacpp",
        Shape::Vllm => "vllm",
        Shape::OpenRouter => "openrouter",
    };
    let model = format!("{provider}:{MODEL}");
    let url = server.url();
    let arguments = ["run", DOMAIN, "--format", "json", "--model", &model, "--base-url", &url];
    let outcome = ask(&Program::new(), &[&arguments[..], more].concat(), &[]);
    let record = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:#?}"));
    assert_eq!(server.log().wrong, Vec::<String>::new());
    (record, server, outcome)
}

fn document(message: Value, reason: Value) -> Value {
    let usage = json!({"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})
}

/// Last words as they come, how the run ends, and what is said about it.
#[test]
fn last_words_in_every_form() {
    let words = |content: Value| json!({"role": "assistant", "content": content});
    let table = [
        (words(json!("Done.")), json!("stop"), "end_turn", "", "Done."),
        (words(json!("Done.")), json!(null), "end_turn", "", "Done."),
        (words(json!("")), json!("stop"), "end_turn", "", ""),
        (words(json!(null)), json!("stop"), "end_turn", "", ""),
        (json!({}), json!("stop"), "end_turn", "", ""),
        (json!({"content": "Done.", "tool_calls": []}), json!("stop"), "end_turn", "", "Done."),
        (json!({"content": "Done.", "tool_calls": null}), json!("stop"), "end_turn", "", "Done."),
        (
            words(json!([{"type": "text", "text": "Done."}, "and gone"])),
            json!("stop"),
            "end_turn",
            "",
            "Done.\nand gone",
        ),
        (words(json!("Done.")), json!("tool_calls"), "end_turn", "`tool_calls` as the reason", "Done."),
        (words(json!("Done.")), json!("eos"), "end_turn", "`eos` as the reason", "Done."),
        (
            words(json!("<tool_call>{\"name\": \"noop\"}")),
            json!("stop"),
            "end_turn",
            "another tool parser",
            "<tool_call>{\"name\": \"noop\"}",
        ),
        (words(json!("So f")), json!("length"), "max_tokens", "", "So f"),
        (words(json!(null)), json!("content_filter"), "refusal", "content filter", ""),
        (json!({"content": null, "refusal": "I will not."}), json!("stop"), "refusal", "I will not.", ""),
    ];
    for (message, reason, stop, detail, final_text) in table {
        let said = document(message, reason);
        let name = said.to_string();
        let (record, ..) = run(Shape::Vllm, &["--mode", "loop"], move |_| Said::Document(said.clone()));
        assert_eq!((&record["stop"], &record["final_text"]), (&json!(stop), &json!(final_text)), "{name}");
        let told = record["stop_detail"].as_str().unwrap_or_default();
        assert!(told.contains(detail) && (detail.is_empty() == told.is_empty()), "{name}: {told}");
        assert_eq!((&record["tokens_read"], &record["output_tokens"]), (&json!(80), &json!(20)), "{name}");
    }
}

/// Usage as it comes; the tokens read and written that are its own, or nothing where they are counted here.
#[test]
fn usage_that_cannot_be_true_is_counted_here() {
    let table = [
        (json!({"prompt_tokens": 80, "completion_tokens": 20}), Some(80), Some(20)),
        (
            json!({"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 900}, "completion_tokens": 20}),
            Some(80),
            Some(20),
        ),
        (json!({"prompt_tokens": 80}), Some(80), None),
        (json!({"completion_tokens": 20}), None, Some(20)),
        (json!({"prompt_tokens": 0, "completion_tokens": 0}), None, None),
        (json!({"prompt_tokens": -80, "completion_tokens": -20}), None, None),
        (json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX}), None, None),
        (json!({"prompt_tokens": 1e300, "completion_tokens": 0.5}), None, None),
        (json!({"prompt_tokens": "80", "completion_tokens": null}), None, None),
        (json!([80, 20]), None, None),
        (json!(null), None, None),
    ];
    for (usage, read, written) in table {
        let name = usage.to_string();
        let (record, ..) = run(Shape::Vllm, &["--mode", "loop"], move |_| {
            let mut said = document(json!({"content": "I said that I did."}), json!("stop"));
            said["usage"] = usage.clone();
            Said::Document(said)
        });
        let is_here = |tokens: &Value, told: Option<u64>| match told {
            Some(told) => *tokens == told,
            None => tokens.as_u64().is_some_and(|tokens| (5..2000).contains(&tokens)),
        };
        assert!(is_here(&record["tokens_read"], read), "{name}: {record:#}");
        assert!(is_here(&record["output_tokens"], written), "{name}: {record:#}");
        assert_eq!(record["estimated"], read.is_none() || written.is_none(), "{name}");
    }
}

fn page(status: u16, headers: &[&str], body: &str) -> Said {
    Said::Raw(answer(status, headers, body.as_bytes()))
}

/// What the server sends instead of an answer; a part of what is said. The run ends without a verdict, exit 5.
type Refusal = (&'static str, Shape, fn() -> Said, &'static str);

const REFUSALS: &[Refusal] = &[
    ("a complaint", Shape::OpenAi, || refused(Shape::OpenAi, 400, "no good"), "answered 400: no good"),
    ("a flat complaint", Shape::Vllm, || refused(Shape::Vllm, 400, "no good"), "answered 400: no good"),
    (
        "a key",
        Shape::OpenAi,
        || refused(Shape::OpenAi, 401, "who?"),
        "401: who?; it wants a key, in the environment variable `OPENAI_API_KEY`",
    ),
    (
        "no credit",
        Shape::OpenRouter,
        || refused(Shape::OpenRouter, 402, "Insufficient credits"),
        "402: Insufficient credits",
    ),
    (
        "no model",
        Shape::Ollama,
        || refused(Shape::Ollama, 404, "model not found"),
        "404: model not found; `ollama pull test-model`",
    ),
    (
        "no tools",
        Shape::Ollama,
        || refused(Shape::Ollama, 400, "test-model does not support tools"),
        "`--code-as text` needs no tool support",
    ),
    (
        "no parser",
        Shape::Vllm,
        || refused(Shape::Vllm, 400, "\"auto\" tool choice requires --enable-auto-tool-choice"),
        "`--code-as text`",
    ),
    (
        "no quota",
        Shape::OpenAi,
        || Said::Raw(error(Shape::OpenAi, 429, "You exceeded your quota", "insufficient_quota", Value::Null)),
        "You exceeded your quota",
    ),
    (
        "a framework's words",
        Shape::Vllm,
        || page(422, &[], r#"{"detail":[{"loc":["body","tools"],"msg":"no list"}]}"#),
        "no list",
    ),
    (
        "a page",
        Shape::OpenAi,
        || page(400, &["content-type: text/html"], "<h1>Bad Request</h1>"),
        "400: <h1>Bad Request</h1>",
    ),
    ("nothing", Shape::OpenAi, || page(403, &[], ""), "403: no word about why"),
    (
        "elsewhere",
        Shape::OpenAi,
        || page(308, &["location: https://elsewhere.example/v1"], ""),
        "308: it is at https://elsewhere.example/v1 now",
    ),
    (
        "an error in 200",
        Shape::OpenRouter,
        || Said::Document(json!({"error": {"code": 400, "message": "no such route"}})),
        "200 with an error: no such route",
    ),
    (
        "words in 200",
        Shape::OpenRouter,
        || Said::Document(json!({"error": "no such route"})),
        "200 with an error: no such route",
    ),
    (
        "flat words in 200",
        Shape::Vllm,
        || Said::Document(json!({"object": "error", "message": "no route", "code": 400})),
        "200 with an error: no route",
    ),
    (
        "an error in a choice",
        Shape::OpenRouter,
        || {
            Said::Document(
                json!({"choices": [{"error": {"code": 403, "message": "flagged"}, "message": {"content": ""}, "finish_reason": "error"}]}),
            )
        },
        "flagged",
    ),
    ("no choices", Shape::OpenAi, || Said::Document(json!({"choices": []})), "has no `choices[0].message`"),
    ("no document", Shape::OpenAi, || Said::Document(json!([1, 2])), "has no `choices[0].message`"),
    (
        "a message of words",
        Shape::OpenAi,
        || Said::Document(json!({"choices": [{"message": "Done."}]})),
        "has no `choices[0].message`",
    ),
    (
        "a form of old",
        Shape::OpenAi,
        || Said::Document(document(json!({"function_call": {"name": "noop"}}), json!("function_call"))),
        "`function_call`",
    ),
    (
        "half a document",
        Shape::OpenAi,
        || page(200, &["content-type: application/json"], "{\"choices\": ["),
        "is no JSON",
    ),
    (
        "brackets",
        Shape::OpenAi,
        || page(200, &["content-type: application/json"], &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        "recursion limit exceeded",
    ),
    (
        "ten million zeros",
        Shape::OpenAi,
        || page(200, &["content-type: application/json"], &format!("[{}0]", "0,".repeat(10_000_000))),
        "memory",
    ),
    ("too long at once", Shape::LlamaCpp, too_long, "exceeds the available context size"),
];

fn refused(shape: Shape, status: u16, words: &str) -> Said {
    Said::Raw(error(shape, status, words, "invalid_request_error", Value::Null))
}

fn too_long() -> Said {
    let words = "the request exceeds the available context size";
    let error = json!({"code": 400, "message": words, "type": "exceed_context_size_error", "n_ctx": 4096});
    page(400, &[], &json!({ "error": error }).to_string())
}

#[test]
fn a_server_that_will_not_is_told_in_its_own_words() {
    for (what, shape, said, expected) in REFUSALS {
        let (record, server, outcome) = run(*shape, &["--mode", "loop"], |_| said());
        assert_eq!((outcome.code, &record["stop"]), (5, &json!("model_error")), "{what}: {outcome:#?}");
        assert!(record["stop_detail"].as_str().unwrap().contains(expected), "{what}: {record:#}");
        assert!(record["verify"].is_null(), "{what}: nobody is judged by it");
        let asked = server.log().documents.len();
        assert!(asked <= 2, "{what}: asked {asked} times");
    }
}

#[test]
fn an_outage_told_with_status_200_is_tried_again() {
    let (record, ..) = run(Shape::OpenRouter, &["--mode", "loop"], |asked| match asked.number {
        0 => Said::Document(json!({"error": {"code": 502, "message": "Provider returned error"}})),
        _ => Said::Turn("Done.", Vec::new()),
    });
    assert_eq!((&record["stop"], &record["retries"]), (&json!("end_turn"), &json!(1)));
    let cause = record["retried"][0]["cause"].as_str().unwrap();
    assert_eq!(cause, "status 200 with an error: Provider returned error");
}

#[test]
fn a_field_that_a_server_does_not_know_is_left_out_once_and_for_all() {
    let call = || vec![("noop".to_owned(), json!({"x": 1}))];
    let refusing = |field: &'static str| {
        move |asked: &Asked| {
            if asked.document.get(field).is_some() {
                let words = format!("Unrecognized request argument supplied: {field}");
                return Said::Raw(error(Shape::OpenAi, 400, &words, "unknown_parameter", Value::Null));
            }
            let calls = if asked.turn < 3 { call() } else { Vec::new() };
            Said::Turn(if calls.is_empty() { "Done." } else { "" }, calls)
        }
    };
    for (field, instead) in [("max_tokens", "max_completion_tokens"), ("parallel_tool_calls", "max_tokens")] {
        let (record, server, _) = run(Shape::OpenAi, &["--mode", "serial"], refusing(field));
        assert_eq!((&record["stop"], &record["model_turns"]), (&json!("end_turn"), &json!(4)), "{record:#}");
        let log = server.log();
        let with_it = log.documents.iter().filter(|document| document.get(field).is_some()).count();
        assert_eq!((with_it, log.documents.len()), (1, 5), "{field}: asked with it once");
        assert!(log.documents[1..].iter().all(|document| document.get(instead).is_some()), "{field}");
    }
    let (record, server, _) = run(Shape::OpenAi, &["--mode", "loop"], |_| {
        Said::Raw(error(
            Shape::OpenAi,
            400,
            "max_tokens is too large, and so is max_completion_tokens",
            "x",
            Value::Null,
        ))
    });
    assert_eq!(server.log().documents.len(), 2, "each name is tried once");
    assert!(record["stop_detail"].as_str().unwrap().contains("max_tokens is too large"), "{record:#}");
}

/// How a model is asked to think is our wish: a server that knows no such field runs without it, and every run says so.
#[test]
fn thinking_that_a_server_does_not_take_is_asked_for_once_and_told() {
    let answers = |asked: &Asked| {
        let field =
            ["reasoning_effort", "chat_template_kwargs"].into_iter().find(|it| asked.document.get(it).is_some());
        match field {
            Some(field) => {
                let words = format!("Unrecognized request argument supplied: {field}");
                Said::Raw(error(Shape::OpenAi, 400, &words, "unknown_parameter", Value::Null))
            }
            None => Said::Turn("Done.", Vec::new()),
        }
    };
    for (shape, model, setting) in [
        (Shape::OpenAi, "openai:o3-mini", "low"),
        (Shape::Ollama, "ollama:test-model", "none"),
        (Shape::LlamaCpp, "llamacpp:qwen3", "off where the template can"),
    ] {
        let server = StrictServer::start(shape, None, answers);
        let url = server.url();
        let words = ["compare", DOMAIN, "--modes", "serial,loop", "--runs", "1", "--format", "json"];
        let outcome = ask(&Program::new(), &[&words[..], &["--model", model, "--base-url", &url]].concat(), &[]);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{model}: {outcome:#?}"));
        for run in report["runs"].as_array().unwrap() {
            assert_eq!((&run["stop"], &run["settings"]["thinking"]), (&json!("end_turn"), &json!(setting)), "{run:#}");
            assert_eq!(run["deviations"], json!(["thinking not set: the server refused the wish"]), "{model}");
        }
        assert_eq!(server.log().documents.len(), 1 + 2, "{model}: asked with it once");
    }
}

#[test]
fn a_mode_that_fills_all_a_model_can_read_has_come_to_its_end() {
    let (record, _, outcome) = run(Shape::LlamaCpp, &["--mode", "loop"], |asked| match asked.turn {
        0 => Said::Turn("", vec![("noop".to_owned(), json!({"x": 1}))]),
        _ => too_long(),
    });
    assert_eq!((&record["stop"], &record["model_turns"]), (&json!("max_tokens"), &json!(1)));
    assert!(record["verify"].is_object(), "it is judged: {outcome:#?}");
}

#[test]
fn a_model_that_calls_without_end_is_ended_by_its_turns() {
    let (record, ..) = run(Shape::Ollama, &["--mode", "loop", "--loop-turns", "5"], |asked| {
        let answers: Vec<usize> = asked.results().iter().map(|result| result.len()).collect();
        assert_eq!(answers.len(), asked.turn);
        Said::Turn("", vec![("noop".to_owned(), json!({"x": asked.turn}))])
    });
    assert_eq!((&record["stop"], &record["tool_calls"]), (&json!("max_turns"), &json!(5)));
}

#[test]
fn a_server_that_repeats_the_key_cannot_carry_it_into_a_file() {
    const KEY: &str = "sk-or-v1-0123456789abcdef";
    let server = StrictServer::start(Shape::OpenRouter, Some(KEY), |_| {
        let words = format!("the key {KEY} may not do this");
        Said::Raw(error(Shape::OpenRouter, 403, &words, "x", Value::Null))
    });
    let (program, trace) = (Program::new(), tempfile::tempdir().unwrap());
    let url = server.url();
    let arguments =
        ["run", DOMAIN, "--mode", "loop", "--model", "openrouter:test-model", "--base-url", &url, "--trace"];
    let outcome =
        ask(&program, &[&arguments[..], &[trace.path().to_str().unwrap()]].concat(), &[("OPENROUTER_API_KEY", KEY)]);
    assert_eq!(outcome.code, 5, "{outcome:#?}");
    assert!(outcome.stdout.contains("may not do this"), "{outcome:#?}");
    assert!(!outcome.stdout.contains(KEY) && !outcome.stderr.contains(KEY), "{outcome:#?}");
    for folder in [program.results(), trace.path()] {
        assert_eq!(crate::asking::holding(folder, KEY.as_bytes()), Vec::<String>::new());
    }
}
