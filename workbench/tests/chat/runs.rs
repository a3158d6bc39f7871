//! The bundled domain with models behind chat completions: every mode, every kind of server, counted on both sides.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::asking::{ask, ask_json, holding};
use crate::program::{Program, workspace};
use crate::strict_server::{Asked, MODEL, Said, Shape, StrictServer};

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// Searches, reads three records and ends; in mode code, hands in the scripts of the rehearsal.
fn curator(asked: &Asked) -> Said {
    let (tools, results) = (asked.tools(), asked.results());
    if tools.is_empty() || tools == ["run_python"] {
        let script = |number: usize| {
            fs::read_to_string(workspace().join(format!("domains/met/rehearsal/code/{number}.py"))).unwrap()
        };
        return match (asked.turn, tools.is_empty()) {
            (0 | 1, false) => Said::Turn("", vec![("run_python".to_owned(), json!({"code": script(asked.turn + 1)}))]),
            (0 | 1, true) => {
                let words = format!("Here it is:\n\n```python\n{}```\n", script(asked.turn + 1));
                Said::Message(json!({"role": "assistant", "content": words}), json!("stop"))
            }
            _ => Said::Turn("The exhibit is ready.", Vec::new()),
        };
    }
    let call = |name: &str, arguments: Value| (name.to_owned(), arguments);
    let searches = [call("list_departments", json!({})), call("search_collection", json!({"query": "cat"}))];
    let reads = |found: &str| -> Vec<(String, Value)> {
        let found: Value = serde_json::from_str(found).unwrap();
        let ids = found["object_ids"].as_array().unwrap().iter().take(3);
        ids.map(|id| call("get_object", json!({"object_id": id}))).collect()
    };
    let left = match results.len() {
        done @ (0 | 1) => searches[done..].to_vec(),
        done @ (2..5) => reads(results[1])[done - 2..].to_vec(),
        _ => return Said::Turn("I read three records and made nothing.", Vec::new()),
    };
    Said::Turn("I go on.", left)
}

/// Provider, shape, whether mode serial gets one call a turn, and the least thinking.
const SERVERS: &[(&str, Shape, bool, &str)] = &[
    ("openai", Shape::OpenAi, true, "the model's own"),
    ("openrouter", Shape::OpenRouter, true, "the model's own"),
    ("ollama", Shape::Ollama, false, "none"),
    ("llamacpp", Shape::LlamaCpp, true, "the model's own"),
    ("vllm", Shape::Vllm, true, "the model's own"),
];

const VARIABLES: &[&str] = &["OPENAI_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_API_KEY", "LLAMA_API_KEY", "VLLM_API_KEY"];

#[test]
fn tokens_are_those_that_the_server_counted_request_by_request() {
    for (place, (provider, shape, is_serial, thinking)) in SERVERS.iter().enumerate() {
        let server = StrictServer::start(*shape, Some(KEY), curator);
        let program = Program::new();
        let trace = tempfile::tempdir().unwrap();
        let model = format!("{provider}:{MODEL}");
        let arguments = ["compare", "met", "--runs", "1", "--format", "json", "--model", &model];
        let more = ["--base-url", &server.url(), "--trace", trace.path().to_str().unwrap()];
        let outcome = ask(&program, &[&arguments[..], &more].concat(), &[(VARIABLES[place], KEY)]);
        let log = server.log();
        assert!(log.wrong.is_empty(), "{provider}: {:#?}", log.wrong);
        let report: Value =
            serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{provider}: {outcome:#?}"));
        let runs = report["runs"].as_array().unwrap();
        let turns = runs.iter().flat_map(|run| run["per_turn"].as_array().unwrap());
        let told: Vec<(u64, u64)> = turns
            .map(|turn| (turn["tokens_read"].as_u64().unwrap(), turn["output_tokens"].as_u64().unwrap()))
            .collect();
        assert_eq!(told, log.counts, "{provider}");
        for run in runs {
            let mode = run["mode"].as_str().unwrap();
            assert_eq!(
                (&run["stop"], &run["model"]),
                (&json!("end_turn"), &json!(model)),
                "{provider} {mode}: {run:#}"
            );
            assert_eq!(run["estimated"], false, "{provider} {mode}");
            let tells_costs = *shape == Shape::OpenRouter;
            assert_eq!(
                run["cost_usd"].is_f64() && run["prices"].is_string(),
                tells_costs,
                "{provider} {mode}: {run:#}"
            );
            assert_eq!(run["settings"]["thinking"], *thinking, "{provider} {mode}");
            let cached = run["cache_read_tokens"].as_u64().unwrap();
            assert_eq!(cached > 0, !matches!(shape, Shape::Ollama | Shape::Vllm), "{provider} {mode}");
            let sum = run["input_tokens"].as_u64().unwrap() + cached;
            assert_eq!(run["tokens_read"].as_u64().unwrap(), sum, "{provider} {mode}: cached tokens are a part");
            let calls: Vec<usize> = run["per_turn"]
                .as_array()
                .unwrap()
                .iter()
                .map(|turn| turn["tools"].as_array().unwrap().len())
                .collect();
            let (expected, deviation): (&[usize], bool) = match (mode, is_serial) {
                ("serial", true) => (&[1, 1, 1, 1, 1, 0], false),
                ("serial", false) => (&[2, 3, 0], true),
                ("loop", _) => (&[2, 3, 0], false),
                _ => (&[1, 1, 0], false),
            };
            assert_eq!(calls, expected, "{provider} {mode}");
            assert_eq!(run["deviations"] == json!(["serial not honoured"]), deviation, "{provider} {mode}");
            assert_eq!(run["verify"]["ok"], mode == "code", "{provider} {mode}: the verdict does not ask who it was");
        }
        // Every request, those of the look before the first run included.
        let mut asked: Vec<String> =
            server.requests().iter().map(|it| format!("{} {}", it.method, it.target)).collect();
        let mut traced = traced(trace.path(), &server.url());
        asked.sort();
        traced.sort();
        assert_eq!(traced, asked, "{provider}");
        for folder in [program.results(), trace.path()] {
            assert_eq!(holding(folder, KEY.as_bytes()), Vec::<String>::new(), "{provider}: the key was written down");
        }
        assert!(!outcome.stdout.contains(KEY) && !outcome.stderr.contains(KEY), "{provider}: {outcome:#?}");
    }
}

/// The requests in a trace, as method and path; each has its answer.
fn traced(folder: &Path, server: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let requests = files.filter(|path| path.to_string_lossy().ends_with("-request.json"));
    let asked = requests.map(|path| {
        assert!(PathBuf::from(path.to_str().unwrap().replace("-request", "-response")).exists(), "{path:?}");
        let request: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let address = request["address"].as_str().unwrap();
        format!("{} {}", request["method"].as_str().unwrap(), address.strip_prefix(server).unwrap())
    });
    asked.collect()
}

/// OpenRouter says with each answer what it cost; no list is needed for a budget, and nothing is guessed where it does not.
#[test]
fn a_request_costs_what_the_provider_says_it_did() {
    let usage = |asked: &Asked| match asked.turn {
        2 => json!({"prompt_tokens": 80, "completion_tokens": 20}),
        _ => json!({"prompt_tokens": 80, "completion_tokens": 20, "cost": 0.000_12}),
    };
    let server = StrictServer::start(Shape::OpenRouter, None, move |asked| {
        let call = json!({"id": format!("c{}", asked.number), "type": "function", "function": {"name": "noop", "arguments": "{\"x\": 1}"}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        Said::Document(json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage(asked)}))
    });
    let (program, url) = (Program::new(), server.url());
    let arguments =
        ["run", "workbench/tests/domains/standin", "--mode", "loop", "--format", "json", "--base-url", &url];
    for (budget, stop, turns, cost) in [
        (&["--max-cost", "0.0002"][..], "budget", 2, json!(0.000_24)),
        (&["--max-cost", "1"], "budget", 3, Value::Null),
        (&["--loop-turns", "2"], "max_turns", 2, json!(0.000_24)),
    ] {
        let run = ask_json(&program, &[&arguments[..], &["--model", "openrouter:test-model"], budget].concat(), &[]);
        assert_eq!((&run["stop"], &run["model_turns"]), (&json!(stop), &json!(turns)), "{budget:?}: {run:#}");
        assert_eq!((&run["cost_usd"], &run["prices"]), (&cost, &json!("the provider's own figures")), "{budget:?}");
    }
    let report = ask(&program, &["report", "standin"], &[]).stdout;
    assert!(report.contains("\ncost by the provider's own figures\n"), "{report}");
    // Another server's figure may be anything.
    let run =
        ask_json(&program, &[&arguments[..], &["--model", "openai:test-model", "--loop-turns", "1"]].concat(), &[]);
    assert_eq!((&run["cost_usd"], run.get("prices")), (&Value::Null, None));
    let refused = ask(&program, &[&arguments[..], &["--model", "openai:test-model", "--max-cost", "1"]].concat(), &[]);
    assert!(refused.code == 2 && refused.stderr.contains("`--max-cost` needs a price"), "{refused:?}");
}

#[test]
fn a_model_without_tools_hands_in_its_scripts_as_words() {
    let server = StrictServer::start(Shape::Ollama, None, curator);
    let program = Program::new();
    let url = server.url();
    let asked = ["compare", "met", "--modes", "code", "--runs", "1", "--format", "json", "--base-url", &url];
    let in_words = ["--model", "ollama:words-only", "--code-as", "text"];
    let report = ask_json(&program, &[&asked[..], &in_words].concat(), &[]);
    let run = &report["runs"][0];
    assert_eq!(server.log().wrong, Vec::<String>::new());
    assert_eq!((&run["verify"]["ok"], &run["stop"]), (&json!(true), &json!("end_turn")), "{run:#}");
    assert_eq!((&run["scripts_run"], &run["settings"]["code_as"]), (&json!(2), &json!("text")));
    assert!(server.log().documents.iter().all(|document| document.get("tools").is_none()));

    let by_tool = ask_json(&program, &[&asked[..], &["--model", &format!("ollama:{MODEL}")]].concat(), &[]);
    assert_eq!(by_tool["runs"][0]["settings"].get("code_as"), None);
    let rehearsal = ["compare", "met", "--modes", "loop,code", "--runs", "1", "--format", "json", "--code-as", "text"];
    let rehearsed = ask_json(&program, &rehearsal, &[]);
    for run in rehearsed["runs"].as_array().unwrap() {
        assert_eq!(run["verify"]["ok"], run["mode"] == "code", "rehearsal speaks both forms: {run:#}");
        let folder = program.results().join("met").join(run["run"].as_str().unwrap());
        let said = fs::read_to_string(folder.join("transcript.jsonl")).unwrap();
        assert!(!said.contains("run_python"), "what the record says of its form is so: {said}");
    }
    let all = ask_json(&program, &["report", "met", "--format", "json"], &[]);
    let groups = all["modes"].as_array().unwrap().iter().map(|mode| &mode["n"]).collect::<Vec<_>>();
    assert_eq!(groups, [1, 1, 1, 1], "runs of different forms are never pooled");

    let outcome = ask(&program, &["run", "met", "--mode", "loop", "--code-as", "text"], &[]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    assert!(outcome.stderr.contains("`--code-as text` is about mode code"), "{outcome:#?}");
}

#[test]
fn what_a_server_takes_is_remembered_for_all_runs_of_a_command() {
    let server = StrictServer::start(Shape::OpenAi, None, |_| Said::Turn("Done.", Vec::new()));
    let (program, url) = (Program::new(), server.url());
    let arguments = ["compare", "workbench/tests/domains/standin", "--modes", "serial,loop", "--runs", "2"];
    let model = ["--format", "json", "--model", "openai:gpt-5-mini", "--base-url", &url];
    let report = ask_json(&program, &[&arguments[..], &model].concat(), &[]);
    let log = server.log();
    assert_eq!((log.wrong.len(), log.documents.len()), (0, 4), "{:?}", log.wrong);
    for document in &log.documents {
        assert_eq!(
            (&document["max_completion_tokens"], &document["reasoning_effort"]),
            (&json!(4096), &json!("minimal"))
        );
    }
    let posts = server.requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(posts, log.documents.len() + 1, "`max_tokens` is refused once, by the first run");
    for run in report["runs"].as_array().unwrap() {
        assert_eq!(
            run["settings"],
            json!({"address": format!("{url}/v1"), "caching": "the server's own", "thinking": "minimal"})
        );
    }
}
