//! The strict server of the other tests is strict: what the real API refuses, it refuses in the same words.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/messages_api/mod.rs"]
mod messages_api;
#[path = "support/server.rs"]
mod server;

use messages_api::{KEY, MessagesApi, Script};
use serde_json::{Value, json};

/// A place in a good request, what stands there instead, and a part of the refusal. `null` removes the field.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    let forced = json!({ "type": "tool", "name": "f" });
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "1" });
    let words = json!({ "type": "text", "text": "x" });
    let mark = json!({ "type": "ephemeral" });
    let marked = json!({ "type": "text", "text": "x", "cache_control": mark });
    vec![
        ("/model", Value::Null, "model: Input should be a valid string"),
        ("/model", json!("nope"), "model: nope"),
        ("/max_tokens", Value::Null, "max_tokens: Input should be a valid integer"),
        ("/max_tokens", json!(0), "max_tokens"),
        ("/temperature", json!(1), "temperature: Extra inputs are not permitted"),
        ("/stream", json!(true), "stream: Extra inputs"),
        ("/thinking", json!({ "type": "disabled" }), "\"thinking.type.disabled\" is not supported for this model"),
        ("/thinking", json!({ "type": "enabled", "budget_tokens": 1 }), "thinking.budget_tokens: Extra inputs"),
        ("/thinking", json!({}), "thinking.type: Field required"),
        ("/output_config", json!({ "effort": "least" }), "output_config.effort"),
        ("/system", json!(""), "system"),
        ("/system", json!([]), "system"),
        (
            "/system",
            json!(vec![marked.clone(); 5]),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        ("/tools/0/name", json!("a b"), "String should match pattern"),
        ("/tools/0/name", json!(""), "String should match pattern"),
        ("/tools/0/input_schema", json!({ "type": "array" }), "Input should be 'object'"),
        ("/tools/0/strict", json!(true), "tools.0.custom.strict: Extra inputs"),
        ("/tools", json!([tool("f"), tool("f")]), "Tool names must be unique"),
        ("/tools", Value::Null, "tool_choice may only be specified while providing tools"),
        ("/tool_choice", forced, "does not take a forced tool"),
        ("/messages", json!([]), "at least one message is required"),
        ("/messages/0/role", json!("system"), "Input should be 'user' or 'assistant'"),
        ("/messages/0/content", json!([]), "messages.0: all messages must have non-empty content"),
        ("/messages/0/content/0/text", json!(""), "text content blocks must be non-empty"),
        ("/messages/0/content/0/odd", json!(1), "messages.0.content.0.odd: Extra inputs"),
        ("/messages/0/content/0/cache_control", json!({ "type": "forever" }), "cache_control"),
        ("/messages/0/role", json!("assistant"), "first message must use the \"user\" role"),
        (
            "/messages/2/content",
            json!([words]),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after",
        ),
        ("/messages/2/content/0/tool_use_id", json!("other"), "`tool_use` ids were found without"),
        ("/messages/2/content", json!([words, result("toolu_0001")]), "`tool_use` ids were found without"),
        (
            "/messages/2/content",
            json!([result("toolu_0001"), result("x")]),
            "messages.2.content.1: unexpected `tool_use_id` found",
        ),
        ("/messages/2/content", json!([result("toolu_0001"), result("toolu_0001")]), "unexpected `tool_use_id` found"),
        ("/messages/2/content/0/is_error", json!("yes"), "content: Input should be a valid string"),
        ("/messages/2", Value::Null, "without `tool_result` blocks immediately after: toolu_0001"),
        (
            "/messages/1/content/0/thinking",
            json!("edited"),
            "blocks in the latest assistant message cannot be modified",
        ),
        ("/messages/0/content/0/text", json!("edited"), "cannot be modified, nor what stands before them"),
        ("/messages/1/content/1/input", json!([]), "Input should be a valid dictionary"),
    ]
}

/// The request with this in that place.
fn changed(good: &Value, place: &str, value: &Value) -> Value {
    let mut body = good.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value.is_null() => _ = fields.shift_remove(key),
        Value::Object(fields) => _ = fields.insert(key.to_owned(), value.clone()),
        Value::Array(items) if value.is_null() => _ = items.remove(key.parse().unwrap()),
        other => other[key.parse::<usize>().unwrap()] = value.clone(),
    }
    body
}

/// What a request with these headers is answered.
async fn ask(api: &MessagesApi, headers: &[(&str, &str)], body: String) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let mut request = client.post(format!("{}/v1/messages", api.url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.body(body).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

const HEADERS: [(&str, &str); 3] =
    [("x-api-key", KEY), ("anthropic-version", "2023-06-01"), ("content-type", "application/json")];

#[tokio::test]
async fn what_the_api_refuses_is_refused() {
    workbench::web::use_ring();
    let said = [
        json!({ "type": "thinking", "thinking": "hm", "signature": "sig=" }),
        json!({ "type": "tool_use", "name": "f", "input": { "x": 1.50 } }),
    ];
    let api = MessagesApi::start(Script::of(&[json!({ "content": said }), json!({ "content": [] })]));
    let first = json!({
        "model": "claude-opus-5-5", "max_tokens": 9, "thinking": { "type": "adaptive" }, "output_config": { "effort": "low" },
        "system": "Be.", "tools": [{ "name": "f", "description": "Does.", "input_schema": { "type": "object" } }],
        "tool_choice": { "type": "auto", "disable_parallel_tool_use": true },
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Hello." }] }],
    });
    let (status, answer) = ask(&api, &HEADERS, first.to_string()).await;
    assert_eq!(status, 200, "{answer}");
    // The bytes of what the model said stand between its field and the one behind it.
    let (_, behind) = answer.split_once("\"content\":").unwrap();
    let (content, _) = behind.split_once(",\"stop_reason\"").unwrap();
    assert!(content.contains("sig\\u003d"), "{content}");
    let mut good = first;
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_0001", "content": "1" }]);
    let messages = good["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": serde_json::from_str::<Value>(content).unwrap() }));
    messages.push(json!({ "role": "user", "content": result }));
    // What is written anew is not what was said, however equal it is.
    let (status, told) = ask(&api, &HEADERS, good.to_string()).await;
    assert!(status == 400 && told.contains("cannot be modified"), "{told}");
    let compact = good["messages"][1]["content"].to_string();
    let raw = |body: &Value| body.to_string().replacen(&compact, content, 1);
    let (status, told) = ask(&api, &HEADERS, raw(&good)).await;
    assert_eq!(status, 200, "{told}");

    let mut wrong = Vec::new();
    for (place, value, part) in cases() {
        let (status, told) = ask(&api, &HEADERS, raw(&changed(&good, place, &value))).await;
        let told = serde_json::from_str::<Value>(&told).unwrap()["error"]["message"].to_string().replace("\\\"", "\"");
        if !matches!(status, 400 | 404) || !told.contains(part) {
            wrong.push(format!("{place} = {value}: {status} {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for (headers, status) in [
        (&HEADERS[1..], 401),
        (&HEADERS[..1], 400),
        (&HEADERS[..2], 400),
        (&[("authorization", &*format!("Bearer {KEY}")), HEADERS[1], HEADERS[2]], 200),
        (&[("x-api-key", "sk-other"), HEADERS[1], HEADERS[2]], 401),
    ] {
        assert_eq!(ask(&api, headers, raw(&good)).await.0, status, "{headers:?}");
    }
}
