//! What is said before the first run: keys, addresses, servers that are not there, models that cannot do it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::asking::ask;
use crate::program::{Outcome, Program};
use crate::server::{Request, Server, answer, json as document};
use crate::strict_server::{MODEL, Said, Shape, StrictServer};

const DOMAIN: &str = "workbench/tests/domains/standin";

/// How a run of it ends: it has no rules, so nothing is verified.
const RAN: i32 = 1;

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    ask(&Program::new(), &[&["run", DOMAIN, "--mode", "loop"], arguments].concat(), variables)
}

/// A port at which nothing listens.
fn nowhere() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

fn done() -> Said {
    Said::Turn("Done.", Vec::new())
}

#[test]
fn what_is_missing_or_wrong_is_said_in_a_sentence() {
    let nowhere = nowhere();
    // Arguments, variables, exit code, parts of what is said.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a [&'a str]);
    let table: &[Case] = &[
        (
            &["--model", "openai:gpt-5.1"],
            &[],
            2,
            &["`OPENAI_API_KEY` is not set", "`openai:gpt-5.1`", "rehearsal", "`ollama:ID`"],
        ),
        (&["--model", "openai:gpt-5.1"], &[("OPENAI_API_KEY", "")], 2, &["`OPENAI_API_KEY` is not set"]),
        (
            &["--model", "openrouter:a/b"],
            &[("OPENAI_API_KEY", "sk-x")],
            2,
            &["`OPENROUTER_API_KEY` is not set", "rehearsal"],
        ),
        (
            &["--model", "openai:gpt-5.1"],
            &[("OPENAI_API_KEY", "sk-secret\nx")],
            2,
            &["`OPENAI_API_KEY` holds what no key can"],
        ),
        (
            &["--model", "openai:gpt-5.1"],
            &[("OPENAI_API_KEY", "sk-secrét")],
            2,
            &["`OPENAI_API_KEY` holds what no key can"],
        ),
        (&["--model", "ollama:x"], &[("OLLAMA_API_KEY", "secret\t")], 2, &["`OLLAMA_API_KEY` holds what no key can"]),
        (&["--model", "ollama:x", "--base-url", "localhost:11434"], &[], 2, &["`--base-url`", "http://"]),
        (&["--model", "ollama:x", "--base-url", ""], &[], 2, &["`--base-url`"]),
        (&["--model", "ollama:x", "--base-url", "ftp://host"], &[], 2, &["`--base-url`"]),
        (&["--model", "vllm:x", "--base-url", "http://me:secret@host/v1"], &[], 2, &["a user or a password"]),
        (&["--model", "vllm:x", "--base-url", "http://host/v1?key=secret"], &[], 2, &["`--base-url`"]),
        (&["--model", "ollama:x", "--caching"], &[], 2, &["`--caching` cannot be asked of `ollama`"]),
        (&["--model", "openai:x"], &[("OPENAI_BASE_URL", "nonsense")], 2, &["`OPENAI_BASE_URL`"]),
        (
            &["--model", "ollama:x", "--base-url", &nowhere],
            &[],
            5,
            &["no Ollama answers at", "start it with `ollama serve`"],
        ),
        (
            &["--model", "llamacpp:x", "--base-url", &nowhere],
            &[],
            5,
            &["no llama.cpp server answers at", "llama-server"],
        ),
        (&["--model", "vllm:x", "--base-url", &nowhere], &[], 5, &["no vLLM answers at", "`vllm serve"]),
        (
            &["--model", "ollama:x", "--base-url", &nowhere, "--trace", "/dev/null/x"],
            &[],
            2,
            &["the trace cannot be kept in /dev/null/x"],
        ),
    ];
    for (arguments, variables, code, parts) in table {
        let outcome = run(arguments, variables);
        assert_eq!(outcome.code, *code, "{arguments:?}: {outcome:#?}");
        for part in *parts {
            assert!(outcome.stderr.contains(part), "{arguments:?}: no {part} in {}", outcome.stderr);
        }
        assert!(!outcome.stderr.contains("secr"), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn a_model_that_is_not_there_or_cannot_do_it_is_told_before_the_first_run() {
    // Shape, key, what is asked for, exit code, a part of what is said.
    type Case<'a> = (Shape, Option<&'a str>, &'a [&'a str], i32, &'a str);
    let table: &[Case] = &[
        (Shape::Ollama, None, &["--model", "ollama:absent"], 5, "get it with `ollama pull absent`"),
        (
            Shape::Ollama,
            None,
            &["--model", "ollama:words-only"],
            5,
            "`words-only` has no tool support; `--modes code --code-as text`",
        ),
        (Shape::Ollama, None, &["--model", "ollama:test-model"], RAN, "cuts longer prompts without a word"),
        (
            Shape::Vllm,
            None,
            &["--model", "vllm:test-modle"],
            5,
            "lists no model `test-modle`; did you mean `test-model`?",
        ),
        (
            Shape::Vllm,
            Some("sk-123"),
            &["--model", "vllm:test-model"],
            5,
            "it wants a key, in the environment variable `VLLM_API_KEY`",
        ),
        (Shape::OpenRouter, None, &["--model", "openrouter:words-only"], 5, "`words-only` has no tool support"),
        (Shape::OpenRouter, None, &["--model", "openrouter:absent"], 5, "lists no model `absent`"),
        (Shape::OpenAi, None, &["--model", "openai:absent"], RAN, "warning: openai:absent: "),
        (Shape::LlamaCpp, None, &["--model", "llamacpp:other"], RAN, "has one model, `test-model`"),
        (Shape::LlamaCpp, None, &["--model", "llamacpp:test-model"], RAN, ""),
    ];
    for (shape, key, arguments, code, part) in table {
        let server = StrictServer::start(*shape, *key, |_| done());
        let outcome = run(&[arguments, &["--base-url", &server.url()][..]].concat(), &[]);
        assert_eq!(outcome.code, *code, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains(part), "{arguments:?}: {outcome:#?}");
        let asked = server.log().documents.len();
        assert_eq!(asked > 0, *code == RAN, "{arguments:?}: the model is not asked in vain");
    }
    let server = StrictServer::start(Shape::OpenAi, Some("sk-right"), |_| done());
    let arguments = ["--model", "openai:test-model", "--base-url", &server.url()];
    let outcome = run(&arguments, &[("OPENAI_API_KEY", "sk-wrong")]);
    assert!(
        outcome.code == 5 && outcome.stderr.contains("the key in `OPENAI_API_KEY` is not accepted"),
        "{outcome:#?}"
    );
    let outcome = run(&arguments[..2], &[("OPENAI_API_KEY", "sk-right"), ("OPENAI_BASE_URL", &server.url())]);
    assert_eq!(outcome.code, RAN, "the variable names the address, too: {outcome:#?}");
}

#[test]
fn the_address_is_found_in_whatever_form_it_is_written() {
    let said = json!({"choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]});
    for (written, expected) in [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/team/openai/v1", "/team/openai/v1/chat/completions"),
        ("/gateway", "/gateway/v1/chat/completions"),
        ("/v1beta/openai/", "/v1beta/openai/chat/completions"),
        ("/api/chat/completions", "/api/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
    ] {
        let (said, expected_there) = (said.clone(), expected.to_owned());
        // No list of models anywhere: such gateways are asked all the same.
        let server = Server::start(move |request: &Request| match request.target == expected_there {
            true => document(&said.to_string()),
            false => answer(404, &[], b"Not Found"),
        });
        let outcome = run(&["--model", "openai:x", "--base-url", &format!("{}{written}", server.url())], &[]);
        assert_eq!(outcome.code, RAN, "{written}: {outcome:#?}");
        let posts = server.requests().iter().filter(|request| request.target == expected).count();
        assert_eq!(posts, 1, "{written}");
    }
}

/// A llama.cpp server answers 503 until its model is loaded.
#[test]
fn a_server_that_loads_its_model_is_waited_for() {
    let looks = AtomicUsize::new(0);
    let said = json!({"choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]}).to_string();
    let loading = br#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let server = Server::start(move |request: &Request| match request.target.as_str() {
        "/health" if looks.fetch_add(1, Ordering::SeqCst) < 3 => answer(503, &[], loading),
        "/health" => document("{\"status\":\"ok\"}"),
        "/v1/models" => document(&json!({"data": [{"id": MODEL}]}).to_string()),
        _ => document(&said),
    });
    let outcome = run(&["--model", "llamacpp:test-model", "--base-url", &server.url()], &[]);
    assert_eq!(outcome.code, RAN, "{outcome:#?}");
    assert!(outcome.stderr.contains("loads its model"), "{outcome:#?}");
    assert_eq!(server.requests().iter().filter(|request| request.target == "/health").count(), 4);
}

#[test]
fn a_look_costs_nothing_and_tells_what_is_there() {
    let server = StrictServer::start(Shape::LlamaCpp, None, |_| done());
    let url = server.url();
    let model = ["--model", "llamacpp:test-model", "--base-url", &url];
    let program = Program::new();
    let counted = ask(&program, &[&["tools", "met", "--count", "--format", "json"], &model[..]].concat(), &[]);
    let counts: serde_json::Value = serde_json::from_str(&counted.stdout).unwrap();
    for count in counts.as_array().unwrap() {
        assert_eq!(count["estimated"], false, "llama.cpp counts without serving: {counts:#}");
        assert!(count["tools"].as_u64().unwrap() > 50, "{counts:#}");
    }
    let looked = ask(&program, &[&["doctor"], &model[..]].concat(), &[]);
    assert!(looked.stdout.contains(&format!("llama.cpp server at {url}/v1")), "{looked:#?}");
    assert_eq!(server.log().documents.len(), 0, "the model is not asked");
}
