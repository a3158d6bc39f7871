//! Turns that no document promises and some server makes: each is read, answered and sent back in a form that every server
//! takes, and the run goes on.

use serde_json::{Value, json};

use crate::asking::{ask_json, transcript};
use crate::program::Program;
use crate::strict_server::{MODEL, Said, Shape, StrictServer};

/// What a turn is, its message and its reason, and of each of its calls: name and arguments as they are sent back, and
/// how the answer begins.
struct Case {
    what: &'static str,
    message: Value,
    reason: Value,
    calls: Vec<(&'static str, Value, String)>,
}

fn case(what: &'static str, message: Value, calls: &[(&'static str, Value, &str)]) -> Case {
    let calls = calls.iter().map(|(name, arguments, answer)| (*name, arguments.clone(), (*answer).to_owned()));
    Case { what, message, reason: json!("tool_calls"), calls: calls.collect() }
}

/// A call of `noop`, which answers what it is given, with these arguments.
fn with_arguments(arguments: Value) -> Value {
    json!({"content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "noop", "arguments": arguments}}
    ]})
}

/// A message with further fields, and a call.
fn with(more: Value) -> Value {
    let mut message = with_arguments(json!("{\"x\": 1}"));
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn with_calls(calls: Value) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

const NO_X: &str = "ERROR: bad arguments for noop: x is missing";
const NO_JSON: &str = "ERROR: not run: the arguments are not valid JSON: ";
const NO_OBJECT: &str = "ERROR: not run: the arguments must be a JSON object";
const UNKNOWN: &str = "ERROR: unknown tool `";

fn cases() -> Vec<Case> {
    let one = |what, message| case(what, message, &[("noop", json!({"x": 1}), "1")]);
    let told = |what, arguments: Value, told| case(what, with_arguments(arguments), &[("noop", json!({}), told)]);
    let named = |what, function: Value, as_sent| {
        let calls = json!([{"id": "n", "type": "function", "function": function}]);
        case(what, with_calls(calls), &[(as_sent, json!({}), UNKNOWN)])
    };
    let reason = |what, reason| Case { reason, ..one(what, with(json!({}))) };
    let noop = |x: usize| json!({"name": "noop", "arguments": format!("{{\"x\":{x}}}")});
    let deep = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let long = "x".repeat(1 << 20);
    let many: Vec<Value> =
        (0..200).map(|x| json!({"id": format!("many{x}"), "type": "function", "function": noop(x)})).collect();
    let mut cases = vec![
        one("arguments as a text", with_arguments(json!("{\"x\": 1}"))),
        one("arguments as an object", with_arguments(json!({"x": 1}))),
        one("arguments as a text in a text", with_arguments(json!("\"{\\\"x\\\": 1}\""))),
        told("arguments null", json!(null), NO_X),
        told("arguments null in a text", json!("null"), NO_X),
        told("arguments empty", json!(""), NO_X),
        told("arguments blank", json!(" \n"), NO_X),
        told("arguments cut", json!("{\"x\": 1"), NO_JSON),
        told("arguments as words", json!("x = 1"), NO_JSON),
        told("arguments in Python", json!("{'x': None}"), NO_JSON),
        told("half a letter", json!("{\"x\": \"\\ud800\"}"), NO_JSON),
        told("a number out of range", json!("{\"x\": 1e999}"), NO_JSON),
        told("two objects", json!("{\"x\": 1}{\"x\": 2}"), NO_JSON),
        told("arguments as a list", json!("[1]"), NO_OBJECT),
        told("arguments as a number", json!(7), NO_OBJECT),
        told("arguments as a text of a text", json!("\"seven\""), NO_OBJECT),
        told("arguments in 110 brackets", json!(deep(110)), "ERROR: not run: the arguments stand in more than"),
        told("arguments in 5,000 brackets", json!(deep(5000)), NO_JSON),
        case("a key twice", with_arguments(json!("{\"x\": 1, \"x\": 2}")), &[("noop", json!({"x": 2}), "2")]),
        case(
            "arguments of a megabyte",
            with_arguments(json!(json!({"x": long}).to_string())),
            &[("noop", json!({"x": long}), "\"xxxx")],
        ),
        named("no name", json!({"name": "", "arguments": "{}"}), "unknown"),
        named("no name at all", json!({"arguments": "{}"}), "unknown"),
        named("a name that is no text", json!({"name": 7, "arguments": "{}"}), "unknown"),
        named("no function", json!(null), "unknown"),
        named("a name of another tool", json!({"name": "nop", "arguments": "{}"}), "nop"),
        named("a name with other letters", json!({"name": "tools.nöop 1", "arguments": "{}"}), "tools_n_op_1"),
        named(
            "a name of 100 letters",
            json!({"name": "n".repeat(100), "arguments": "{}"}),
            "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
        ),
        one("no content", with_calls(json!([{"id": "c1", "function": noop(1), "type": "function"}]))),
        one("content missing", json!({"tool_calls": [{"id": "c2", "function": noop(1), "type": "function"}]})),
        one("no type", with_calls(json!([{"id": "t1", "function": noop(1)}]))),
        one("another type", with_calls(json!([{"id": "t2", "type": "tool", "function": noop(1)}]))),
        one("an index", with_calls(json!([{"index": 0, "id": "t3", "type": "function", "function": noop(1)}]))),
        one("a call that is null", with_calls(json!([null, {"id": "t4", "function": noop(1)}]))),
        one("no id", with_calls(json!([{"function": noop(1)}]))),
        one("an empty id", with_calls(json!([{"id": "", "function": noop(1)}]))),
        one("an id that is a number", with_calls(json!([{"id": 4, "function": noop(1)}]))),
        one("an id of a call before", with_calls(json!([{"id": "t1", "function": noop(1)}]))),
        one("an id like one of ours", with_calls(json!([{"id": "call_3", "function": noop(1)}]))),
        case(
            "one id for all",
            with_calls(json!([{"id": "s", "function": noop(1)}, {"id": "s", "function": noop(2)}])),
            &[("noop", json!({"x": 1}), "1"), ("noop", json!({"x": 2}), "2")],
        ),
        one(
            "words in parts",
            with(json!({"content": [{"type": "text", "text": "I go "}, {"type": "text", "text": "on."}]})),
        ),
        one("a part that is no text", with(json!({"content": [{"type": "thinking", "thinking": [{"text": "hm"}]}]}))),
        one("content that is a number", with(json!({"content": 7}))),
        one("thoughts of llama.cpp", with(json!({"reasoning_content": "I think."}))),
        one("thoughts of Ollama", with(json!({"reasoning": "I think."}))),
        one(
            "thoughts of OpenRouter",
            with(json!({"reasoning_details": [{"type": "reasoning.text", "text": "I think."}]})),
        ),
        one(
            "fields of tomorrow",
            with(json!({"audio": {"id": "x"}, "annotations": [], "function_call": null, "weight": 1})),
        ),
        one("no refusal", with(json!({"refusal": ""}))),
        reason("the reason stop", json!("stop")),
        reason("no reason", json!(null)),
        reason("a reason of its own", json!("eos_token")),
        case("200 calls", with_calls(json!(many)), &[]),
    ];
    let last = cases.last_mut().unwrap();
    last.calls = (0..200).map(|x| ("noop", json!({"x": x}), x.to_string())).collect();
    cases.push(Case {
        reason: json!("length"),
        ..case(
            "cut off in its last call",
            with_calls(json!([{"id": "l1", "function": noop(1)}, {"id": "l2", "function": {"name": "noop", "arguments": "{\"x\": 1"}}])),
            &[("noop", json!({"x": 1}), "1"), ("noop", json!({}), "ERROR: not run: your answer was cut off")],
        )
    });
    cases
}

#[test]
fn whatever_a_turn_is_like_it_is_answered_and_can_be_sent_back() {
    let cases = cases();
    let played: Vec<(Value, Value)> = cases.iter().map(|case| (case.message.clone(), case.reason.clone())).collect();
    let server = StrictServer::start(Shape::Ollama, None, move |asked| match played.get(asked.turn) {
        Some((message, reason)) => Said::Message(message.clone(), reason.clone()),
        None => Said::Turn("Done.", Vec::new()),
    });
    let program = Program::new();
    let domain = "workbench/tests/domains/standin";
    let model = format!("ollama:{MODEL}");
    let arguments = ["run", domain, "--mode", "loop", "--loop-turns", "200", "--format", "json", "--model", &model];
    let run = ask_json(&program, &[&arguments[..], &["--base-url", &server.url()]].concat(), &[]);
    let log = server.log();
    assert_eq!(log.wrong, Vec::<String>::new());
    assert_eq!((&run["stop"], &run["final_text"]), (&json!("end_turn"), &json!("Done.")), "{:.2000}", run.to_string());

    let sent = log.documents.last().unwrap()["messages"].as_array().unwrap();
    let mut left = sent[2..].iter();
    for Case { what, calls, .. } in &cases {
        let said = left.next().unwrap();
        let echoed: Vec<(&str, Value)> = said["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| {
                let function = &call["function"];
                (
                    function["name"].as_str().unwrap(),
                    serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap(),
                )
            })
            .collect();
        let expected: Vec<(&str, Value)> =
            calls.iter().map(|(name, arguments, _)| (*name, arguments.clone())).collect();
        assert!(echoed == expected, "{what}: {:.2000}", said.to_string());
        for (_, _, answer) in calls {
            let heard = left.next().unwrap()["content"].as_str().unwrap();
            assert!(heard.starts_with(answer), "{what}: {heard:.500}");
        }
    }
    assert!(left.next().is_none());
    assert!(!sent.iter().any(|message| message.to_string().contains("I think.")), "thoughts are not sent back");
    let kept = transcript(&program, &run).iter().filter(|message| message.to_string().contains("I think.")).count();
    assert_eq!(kept, 3, "thoughts are kept");
}
