//! What the Messages API answers in mode `hosted`, oddities included.

use serde_json::{Value, json};

use crate::{Case, Turn, turn, when};

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

fn very_many() -> Value {
    let blocks = (0..21_000).flat_map(|number| {
        let id = format!("s{number}");
        let name = format!("{number}{}", "x".repeat(220));
        let content = match number % 2 {
            0 => json!({ "type": "code_execution_result", "stdout": "", "stderr": "", "return_code": 0,
                         "content": [{ "file_id": name }, { "file_id": name }] }),
            _ => json!({ "type": "code_execution_tool_result_error", "error_code": name }),
        };
        [json!({ "type": "server_tool_use", "id": id, "name": name, "input": { "code": "" } }), result(&id, content)]
    });
    blocks.collect()
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(crate) fn done() -> Value {
    said(json!([words("Done.")]), "end_turn", None, 10)
}

/// A script that waits for one call.
fn pause(container: Option<&str>) -> Value {
    said(json!([script("srvtoolu_1"), call("toolu_1", from("srvtoolu_1"))]), "tool_use", container, 100)
}

/// A turn that is paused when its script has ended, so that nothing waits in its container.
fn paused() -> Value {
    said(json!([script("srvtoolu_1"), result("srvtoolu_1", printed("1\n"))]), "pause_turn", Some("c_1"), 100)
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

/// Cases for `--code-execution 20260521`. Callers are named by the earlier version all the same.
pub(crate) fn of_the_later_version() -> Vec<Case> {
    let declares = |request: &Value| {
        let tools = request["tools"].as_array().unwrap();
        tools[0] == json!({ "type": "code_execution_20260521", "name": "code_execution" })
            && tools[1..].iter().all(|tool| tool["allowed_callers"] == json!(["code_execution_20260120"]))
    };
    vec![Case {
        name: "the later version of the tool",
        turns: vec![
            when(declares, said(json!([script("s1"), call("a", from("s1"))]), "tool_use", Some("c_1"), 100)),
            when(|request| request["container"] == "c_1" && last(request).len() == 1, done()),
        ],
        stop: "end_turn",
        detail: "",
        run: |run| run["nested_calls"] == 1 && run["sandbox"] == "code_execution_20260521",
    }]
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn cases() -> Vec<Case> {
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
                    && run["sandbox"] == "code_execution_20260120"
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
                turn(paused()),
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
            "a container that is gone without a word when nothing waits",
            vec![
                turn(paused()),
                Turn { status: 500, ..turn(error("api_error", "Internal server error")) },
                when(|request| request.get("container").is_none(), done()),
            ],
            "end_turn",
            "",
            |run| run["deviations"][0].as_str().unwrap().starts_with("container lost"),
        ),
        case(
            "an outage while a script waits, which says nothing of its container",
            vec![turn(pause(Some("c_1"))), Turn { status: 500, ..turn(error("api_error", "Internal server error")) }],
            "model_error",
            "the service fails or is overloaded",
            |run| !run["stop_detail"].as_str().unwrap().contains("container"),
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
            "a script that is shown again keeps its number",
            vec![
                turn(said(
                    json!([
                        script("s1"),
                        result("s1", printed("1\n")),
                        script("s2"),
                        script("s1"),
                        call("a", from("s1")),
                        call("b", from("s2"))
                    ]),
                    "tool_use",
                    Some("c_1"),
                    100,
                )),
                when(|request| resumes(request, "c_1", 2), done()),
            ],
            "end_turn",
            "",
            |run| run["scripts_of_calls"] == json!([1, 2]) && run["scripts_run"] == 2,
        ),
        case(
            "a call of a script that was never shown is none of those that were",
            vec![
                turn(said(
                    json!([script("s1"), call("a", from("nobody")), call("b", from("s1"))]),
                    "tool_use",
                    Some("c_1"),
                    100,
                )),
                when(|request| resumes(request, "c_1", 2), done()),
            ],
            "end_turn",
            "",
            |run| run["scripts_of_calls"] == json!([1, 2]) && run["nested_calls"] == 2,
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
            "a container that stays lost",
            vec![
                turn(paused()),
                Turn { status: 404, ..turn(error("not_found_error", "Container not found: c_1")) },
                Turn { status: 404, ..turn(error("not_found_error", "Container not found: c_1")) },
            ],
            "model_error",
            "it looks for a container, whatever it is asked",
            |_| true,
        ),
        case(
            "very many scripts, files, codes and names, of which a record keeps the first",
            vec![turn(said(very_many(), "end_turn", Some("c_1"), 100))],
            "end_turn",
            "",
            |run| {
                run["scripts_run"] == 21_000
                    && run["tool_calls"] == 21_000
                    && run["per_turn"][0]["tools"].as_array().unwrap().len() == 20_000
                    && run["hosted"]["files"].as_array().unwrap().len() == 100
                    && run["hosted"]["more_files"] == 20_900
                    && run["hosted"]["errors"].as_object().unwrap().len() == 101
            },
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
