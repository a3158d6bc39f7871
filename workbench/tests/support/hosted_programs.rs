//! What OpenAI's Responses API answers in mode `hosted`, oddities included.

use serde_json::{Value, json};

use crate::{Case, Turn, turn, when};

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
pub(crate) fn cases() -> Vec<Case> {
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
                    && run["hosted"]["container_seconds"].as_f64().is_some_and(f64::is_sign_positive)
                    && run["sandbox"].is_null()
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
        case(
            "a conversation that is too long ends as in the other modes",
            vec![
                turn(response(json!([program(), by_program("a")]), 100)),
                Turn {
                    status: 400,
                    ..turn(json!({ "error": { "message": "Your input exceeds the context window of this model.",
                                              "code": "context_length_exceeded", "type": "invalid_request_error" } }))
                },
            ],
            "max_tokens",
            "exceeds the context window",
            |_| true,
        ),
        case(
            "an outage that is told with status 200 is tried again",
            vec![
                turn(json!({ "error": { "message": "Upstream is overloaded", "code": 503 } })),
                turn(response(json!([message("Done.")]), 10)),
            ],
            "end_turn",
            "",
            |run| run["retries"] == 1,
        ),
        case(
            "an answer that is not finished is none",
            vec![turn(json!({ "status": "in_progress", "output": [message("It is")] }))],
            "model_error",
            "says that it is \"in_progress\"",
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
