//! Requests that are large or slow: they are answered, or refused, and nobody else waits for them.

use serde_json::{Value, json};

use crate::served::{Served, question};

/// A request with this many tools that code may call; what it lacks is told after they were read.
fn many_tools(count: usize) -> Value {
    let tool = |number| {
        json!({ "name": format!("tool-{number}"), "input_schema": { "type": "object" },
                "allowed_callers": ["code_execution_20260120"] })
    };
    let mut asked = question();
    asked["tools"].as_array_mut().unwrap().extend((0..count).map(tool));
    asked["messages"] = json!([]);
    asked
}

/// A request with this many cells, whose results are in reverse; its last message is refused after they were paired.
fn many_cells(count: usize) -> Value {
    let cell = |number| json!({ "type": "server_tool_use", "id": format!("srvtoolu_{number}"), "name": "code_execution", "input": {} });
    let result = |number| json!({ "type": "code_execution_tool_result", "tool_use_id": format!("srvtoolu_{number}"), "content": {} });
    let blocks: Vec<Value> = (0..count).map(cell).chain((0..count).rev().map(result)).collect();
    let mut asked = question();
    asked["messages"] = json!([
        { "role": "user", "content": "Go on." },
        { "role": "assistant", "content": blocks },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_x", "content": "1" }] },
    ]);
    asked
}

/// Each would take minutes if parts of it were looked for one by one.
#[tokio::test]
async fn a_request_of_many_parts_is_read_in_one_pass() {
    let served = Served::start(&json!([]), &[]);
    for (asked, begins) in [
        (many_tools(20_000), "messages: at least one message is required"),
        (many_cells(60_000), "messages.2.content.0: unexpected `tool_use_id` found"),
    ] {
        let answer = served.post(&asked).await;
        assert!(answer.status == 400 && answer.message().starts_with(begins), "{answer:?}");
    }
}
