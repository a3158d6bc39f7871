//! A comparison with models behind the Messages API, against a strict server on the loopback interface.
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

use exhibit::{MODEL, exhibit, outcome};
use messages_api::{KEY, MessagesApi, Served};
use program::Program;
use serde_json::{Value, json};

/// The comparison's report.
fn compared(program: &Program, api: &MessagesApi, more: &[&str]) -> Value {
    let outcome = outcome(program, api, &[&["compare", "met", "--format", "json"], more].concat());
    assert_eq!(api.errors(), Vec::<String>::new(), "the API refused something");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// What the API counted, turn by turn, for each run: runs are made one after another, and each starts with one message.
fn counted(api: &MessagesApi) -> Vec<(&'static str, Vec<Served>)> {
    let mut runs: Vec<(&str, Vec<Served>)> = Vec::new();
    for served in api.turns() {
        if served.body["messages"].as_array().unwrap().len() == 1 {
            runs.push((served.mode, Vec::new()));
        }
        runs.last_mut().unwrap().1.push(served);
    }
    runs
}

/// Every figure of every run is what the API counted, request by request.
fn assert_figures(report: &Value, api: &MessagesApi) {
    let (runs, counted) = (report["runs"].as_array().unwrap(), counted(api));
    assert_eq!(runs.len(), counted.len());
    for (run, (mode, served)) in runs.iter().zip(counted) {
        assert_eq!(run["mode"], mode);
        let figures: Vec<_> = served.iter().map(|it| it.counted.unwrap()).collect();
        let turns = run["per_turn"].as_array().unwrap();
        assert_eq!(turns.len(), figures.len(), "{run:#}");
        for (turn, figure) in turns.iter().zip(&figures) {
            let billed = figure.read - figure.from_cache - figure.to_cache;
            assert_eq!(
                [&turn["tokens_read"], &turn["input_tokens"], &turn["output_tokens"]],
                [&json!(figure.read), &json!(billed), &json!(figure.written)],
                "{mode}: {turn}"
            );
        }
        let sum = |of: fn(&messages_api::Counted) -> u64| figures.iter().map(of).sum::<u64>();
        assert_eq!(run["tokens_read"], sum(|it| it.read));
        assert_eq!(run["output_tokens"], sum(|it| it.written));
        assert_eq!(run["cache_read_tokens"], sum(|it| it.from_cache));
        assert_eq!(run["cache_write_tokens"], sum(|it| it.to_cache));
        assert_eq!([&run["estimated"], &run["retries"]], [&json!(false), &json!(0)]);
        assert_eq!([&run["stop"], &run["verify"]["ok"]], [&json!("end_turn"), &json!(true)], "{run:#}");
        assert_eq!(run.get("deviations"), None);
    }
}

#[test]
fn tokens_are_those_the_api_counted_in_every_mode() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let report = compared(&program, &api, &[&MODEL[..], &["--runs", "2", "--modes", "serial,loop,code"]].concat());
    assert_figures(&report, &api);
    let modes: Vec<&Value> = report["modes"].as_array().unwrap().iter().map(|mode| &mode["passed"]).collect();
    assert_eq!(modes, [&json!(2), &json!(2), &json!(2)]);
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(run["model"], "anthropic:claude-haiku-5-5");
        assert_eq!(
            run["settings"],
            json!({ "address": format!("{}/v1", api.url()), "thinking": "off", "caching": "off" })
        );
        assert_eq!(run["final_text"], "I go on.\nThe exhibit is ready.");
        assert_eq!(run["rehearsal_of"], Value::Null);
    }
    let calls = |mode: &str| report["runs"].as_array().unwrap().iter().find(|run| run["mode"] == mode).unwrap().clone();
    assert_eq!([&calls("serial")["model_turns"], &calls("loop")["model_turns"]], [&json!(29), &json!(5)]);
    assert_eq!([&calls("code")["scripts_run"], &calls("code")["tool_calls"]], [&json!(2), &json!(2)]);
    for served in api.turns() {
        assert_eq!(served.body["max_tokens"], if served.mode == "code" { 8000 } else { 4096 });
        assert_eq!(served.body["thinking"], json!({ "type": "disabled" }));
        let choice = &served.body["tool_choice"];
        match served.mode {
            "serial" => assert_eq!(*choice, json!({ "type": "auto", "disable_parallel_tool_use": true })),
            _ => assert_eq!(*choice, Value::Null),
        }
    }
    for request in api.requests() {
        assert_eq!(request.header("x-api-key"), Some(KEY));
        assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    }
    let shown = program.run(&["report", "met"]).stdout;
    assert!(shown.contains("anthropic:claude-haiku-5-5") && !shown.contains('≈'), "{shown}");
}

#[test]
fn a_model_that_must_think_thinks_the_least_and_its_thoughts_go_back_untouched() {
    for (id, setting, thinking, effort) in [
        ("claude-sonnet-5-5", "least: between tools", json!({ "type": "between_tools" }), Value::Null),
        ("claude-opus-5-5", "least: adaptive, effort low", json!({ "type": "adaptive" }), json!({ "effort": "low" })),
        ("next-2", "off", Value::Null, Value::Null),
    ] {
        let (program, api) = (Program::new(), MessagesApi::start(exhibit(true)));
        let model = format!("anthropic:{id}");
        let report = compared(&program, &api, &["--runs", "1", "--modes", "loop", "--model", &model]);
        assert_figures(&report, &api);
        assert_eq!(report["runs"][0]["settings"]["thinking"], setting);
        for served in api.turns() {
            assert_eq!([&served.body["thinking"], &served.body["output_config"]], [&thinking, &effort], "{id}");
        }
        let folder = program.results().join("met").join(report["runs"][0]["run"].as_str().unwrap());
        let transcript = fs::read_to_string(folder.join("transcript.jsonl")).unwrap();
        assert_eq!(transcript.matches("\"thinking\"").count(), 2 * 5, "each of the five turns has a thought");
    }
}

#[test]
fn with_caching_what_was_read_is_the_same_and_less_of_it_is_billed() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let report =
        compared(&program, &api, &[&MODEL[..], &["--runs", "1", "--modes", "loop,code", "--caching"]].concat());
    assert_figures(&report, &api);
    let plain = MessagesApi::start(exhibit(false));
    let without = compared(&Program::new(), &plain, &[&MODEL[..], &["--runs", "1", "--modes", "loop,code"]].concat());
    for (cached, plain) in report["runs"].as_array().unwrap().iter().zip(without["runs"].as_array().unwrap()) {
        assert_eq!(cached["tokens_read"], plain["tokens_read"], "{}", cached["mode"]);
        assert_eq!(cached["settings"]["caching"], "on");
        assert_eq!(plain["cache_read_tokens"], 0);
    }
    // All but what is new in a turn comes from the cache.
    for (mode, served) in counted(&api) {
        for pair in served.windows(2) {
            let (before, now) = (pair[0].counted.unwrap(), pair[1].counted.unwrap());
            assert!(now.from_cache >= before.from_cache + before.to_cache, "{mode}: {before:?} {now:?}");
            assert!(now.from_cache > 0 && now.read == now.from_cache + now.to_cache, "{mode}: {now:?}");
        }
    }
}

/// A model that no table knows, behind a gateway that describes none: what it allows is found out at no cost.
#[test]
fn a_gateway_without_a_list_of_models_serves_too() {
    let (program, api) = (Program::new(), MessagesApi::without_models(exhibit(false)));
    let outcome =
        outcome(&program, &api, &["run", "met", "--mode", "loop", "--format", "json", "--model", "anthropic:next-1"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let run: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(run["settings"]["thinking"], "least: adaptive, effort low");
    assert!(
        outcome.stderr.contains("warning: anthropic:next-1: this server does not describe its models"),
        "{outcome:?}"
    );
    assert_eq!(api.errors().len(), 3, "one for the list, two for what it does not allow: {:?}", api.errors());
    assert_eq!(api.turns().len(), 5);
}

/// Scripts as words: no tool is offered, and what a script printed comes back as the user's words.
#[test]
fn scripts_come_from_the_models_words_where_no_tool_is_offered() {
    let code = fs::read_to_string(program::workspace().join("domains/met/rehearsal/code/2.py")).unwrap();
    let words = |words: &str| json!({ "content": [{ "type": "text", "text": words }] });
    let turns = [words(&format!("So:\n```python\n{code}```")), words("The exhibit is ready.")];
    let (program, api) = (Program::new(), MessagesApi::start(messages_api::Script::of(&turns)));
    let report =
        compared(&program, &api, &[&MODEL[..], &["--runs", "1", "--modes", "code", "--code-as", "text"]].concat());
    let run = &report["runs"][0];
    assert_eq!([&run["verify"]["ok"], &run["scripts_run"]], [&json!(true), &json!(1)], "{run:#}");
    assert_eq!(run["settings"]["code_as"], "text");
    let served = api.turns();
    let read: u64 = served.iter().map(|it| it.counted.unwrap().read).sum();
    assert_eq!((served.len(), &run["tokens_read"]), (2, &json!(read)));
    assert!(served.iter().all(|it| it.body.get("tools").is_none()), "no tool is offered");
}
