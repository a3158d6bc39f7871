//! What the API takes: method, headers and fields. The texts are those of the real one.

use serde_json::{Value, json};

use super::models;
use super::pairing;
use crate::messages_api::KEY;
use crate::server::Request;

/// An error of the API.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", message: message.into() }
    }

    pub(crate) fn not_found(message: &str) -> Self {
        Self { status: 404, kind: "not_found_error", message: message.to_owned() }
    }

    pub(crate) fn document(&self) -> Value {
        let error = json!({ "type": self.kind, "message": self.message });
        json!({ "type": "error", "error": error, "request_id": "req_test" })
    }
}

/// Which call a body is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Messages,
    Count,
}

const COUNTED: &[&str] = &["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"];
const TOOL: &[&str] = &["name", "description", "input_schema", "cache_control"];
const MOST_BREAKPOINTS: usize = 4;

pub(crate) fn headers(request: &Request) -> Result<(), Refusal> {
    let bearer = format!("Bearer {KEY}");
    let is_known = request.header("x-api-key") == Some(KEY) || request.header("authorization") == Some(&bearer);
    if !is_known {
        // Some servers repeat what they were given.
        let given = request.header("x-api-key").unwrap_or_default();
        let message = format!("invalid x-api-key: {given}");
        return Err(Refusal { status: 401, kind: "authentication_error", message });
    }
    match request.header("anthropic-version") {
        Some("2023-06-01" | "2026-10-21") => Ok(()),
        _ => Err(Refusal::invalid("anthropic-version: header is required")),
    }
}

/// The body of a request that the API takes.
pub(crate) fn body(request: &Request, kind: Kind) -> Result<Value, Refusal> {
    headers(request)?;
    if request.header("content-type") != Some("application/json") {
        return Err(Refusal::invalid("content-type: must be application/json"));
    }
    let body: Value = serde_json::from_slice(&request.body)
        .map_err(|error| Refusal::invalid(format!("The request body is not valid JSON: {error}")))?;
    let fields = body.as_object().ok_or_else(|| Refusal::invalid("Input should be an object"))?;
    for field in fields.keys() {
        let is_of_messages = kind == Kind::Messages && field == "max_tokens";
        if !COUNTED.contains(&field.as_str()) && !is_of_messages {
            return Err(Refusal::invalid(format!("{field}: Extra inputs are not permitted")));
        }
    }
    let id = body["model"].as_str().ok_or_else(|| Refusal::invalid("model: Input should be a valid string"))?;
    let card = models::find(id)?;
    if kind == Kind::Messages && !body["max_tokens"].as_u64().is_some_and(|tokens| (1..=128_000).contains(&tokens)) {
        return Err(Refusal::invalid("max_tokens: Input should be a valid integer"));
    }
    system(&body["system"])?;
    tools(&body["tools"])?;
    choice(&body, card)?;
    keys("thinking", &body["thinking"], &["type"])?;
    keys("output_config", &body["output_config"], &["effort"])?;
    card.check(&body)?;
    pairing::check(&body)?;
    match request.body.windows(15).filter(|word| word == b"\"cache_control\"").count() {
        0..=MOST_BREAKPOINTS => Ok(body),
        many => {
            Err(Refusal::invalid(format!("A maximum of 4 blocks with cache_control may be provided. Found {many}.")))
        }
    }
}

fn system(system: &Value) -> Result<(), Refusal> {
    match system {
        Value::Null => Ok(()),
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(blocks) if !blocks.is_empty() => blocks.iter().enumerate().try_for_each(|(number, block)| {
            let place = format!("system.{number}");
            keys(&place, block, &["type", "text", "cache_control"])?;
            mark(&place, block)?;
            match (block["type"].as_str(), block["text"].as_str()) {
                (Some("text"), Some(text)) if !text.is_empty() => Ok(()),
                _ => Err(Refusal::invalid(format!("{place}: text content blocks must be non-empty"))),
            }
        }),
        _ => Err(Refusal::invalid("system: Input should be a valid string")),
    }
}

fn tools(tools: &Value) -> Result<(), Refusal> {
    let list = match tools {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        _ => return Err(Refusal::invalid("tools: Input should be a valid list")),
    };
    let mut names: Vec<&str> = Vec::new();
    for (number, tool) in list.iter().enumerate() {
        let place = format!("tools.{number}.custom");
        keys(&place, tool, TOOL)?;
        mark(&place, tool)?;
        let name = tool["name"].as_str().unwrap_or_default();
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !letters || !(1..=64).contains(&name.len()) {
            return Err(Refusal::invalid(format!(
                "{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            )));
        }
        if names.contains(&name) {
            return Err(Refusal::invalid("tools: Tool names must be unique."));
        }
        names.push(name);
        if tool["input_schema"]["type"] != "object" {
            return Err(Refusal::invalid(format!("{place}.input_schema.type: Input should be 'object'")));
        }
        if !(tool["description"].is_null() || tool["description"].is_string()) {
            return Err(Refusal::invalid(format!("{place}.description: Input should be a valid string")));
        }
    }
    Ok(())
}

fn choice(body: &Value, card: &models::Card) -> Result<(), Refusal> {
    let choice = &body["tool_choice"];
    if choice.is_null() {
        return Ok(());
    }
    keys("tool_choice", choice, &["type", "name", "disable_parallel_tool_use"])?;
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        return Err(Refusal::invalid("tool_choice may only be specified while providing tools."));
    }
    match choice["type"].as_str() {
        Some("auto" | "none") => {}
        Some("any" | "tool") if card.forces => {}
        _ => return Err(Refusal::invalid("tool_choice: this model does not take a forced tool")),
    }
    match &choice["disable_parallel_tool_use"] {
        Value::Null | Value::Bool(_) => Ok(()),
        _ => Err(Refusal::invalid("tool_choice.disable_parallel_tool_use: Input should be a valid boolean")),
    }
}

/// Refuses a field that is not among those known.
pub(crate) fn keys(place: &str, value: &Value, known: &[&str]) -> Result<(), Refusal> {
    let fields = match value {
        Value::Null => return Ok(()),
        Value::Object(fields) => fields,
        _ => return Err(Refusal::invalid(format!("{place}: Input should be an object"))),
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(Refusal::invalid(format!("{place}.{key}: Extra inputs are not permitted"))),
        None => Ok(()),
    }
}

/// Refuses a mark of the cache that is none.
pub(crate) fn mark(place: &str, block: &Value) -> Result<(), Refusal> {
    match &block["cache_control"] {
        Value::Null => Ok(()),
        mark if *mark == json!({ "type": "ephemeral" }) => Ok(()),
        _ => Err(Refusal::invalid(format!("{place}.cache_control: Input should be an ephemeral mark"))),
    }
}
