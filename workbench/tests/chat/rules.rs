//! What a request of chat completions must be for every server that there is: the common ground of their rules.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// What is wrong with the document; nothing when every server takes it.
pub(crate) fn problem(document: &Value, fields: &[&str]) -> Option<String> {
    check(document, fields).err()
}

type Checked = Result<(), String>;

fn check(document: &Value, fields: &[&str]) -> Checked {
    let document = object(document, "the request")?;
    only(document, fields, "the request")?;
    text(document, "model")?;
    let caps: Vec<&Value> =
        ["max_tokens", "max_completion_tokens"].iter().filter_map(|name| document.get(*name)).collect();
    ensure(caps.len() == 1 && caps[0].as_u64().is_some_and(|cap| cap > 0), "not exactly one cap of tokens")?;
    if let Some(effort) = document.get("reasoning_effort") {
        let known = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
        ensure(known.iter().any(|word| effort == word), "unknown effort")?;
    }
    let tools = match document.get("tools") {
        None => 0,
        Some(tools) => self::tools(tools)?,
    };
    if let Some(parallel) = document.get("parallel_tool_calls") {
        ensure(parallel.is_boolean() && tools > 0, "`parallel_tool_calls` without tools, or no bool")?;
    }
    messages(list(document, "messages")?)
}

fn tools(tools: &Value) -> Result<usize, String> {
    let tools = tools.as_array().ok_or("`tools` is no list")?;
    ensure(!tools.is_empty(), "`tools` is empty")?;
    let mut names = HashSet::new();
    for tool in tools {
        let tool = object(tool, "a tool")?;
        only(tool, &["type", "function"], "a tool")?;
        ensure(tool["type"] == "function", "a tool that is no function")?;
        let function = object(&tool["function"], "a function")?;
        only(function, &["name", "description", "parameters"], "a function")?;
        ensure(is_name(text(function, "name")?), "the name of a tool")?;
        ensure(names.insert(text(function, "name")?), "two tools of one name")?;
        text(function, "description")?;
        let parameters = object(function.get("parameters").unwrap_or(&Value::Null), "`parameters`")?;
        ensure(parameters.get("type").is_some_and(|kind| kind == "object"), "parameters that are no object")?;
    }
    Ok(tools.len())
}

/// A system text, a task, and then turns: what the model said, and before anything else an answer to each of its calls.
fn messages(messages: &[Value]) -> Checked {
    let (mut pending, mut ids): (Vec<&str>, HashSet<&str>) = (Vec::new(), HashSet::new());
    for (place, message) in messages.iter().enumerate() {
        let message = object(message, "a message")?;
        let role = text(message, "role")?;
        match (place, role) {
            (0, "system") | (1, "user") => {}
            (0 | 1, _) | (_, "system") => return Err(format!("message {place} is of the {role}")),
            _ => {}
        }
        if role != "tool" {
            ensure(pending.is_empty(), "a call without an answer right behind it")?;
        }
        match role {
            "system" | "user" => {
                only(message, &["role", "content"], "a message")?;
                text(message, "content")?;
            }
            "assistant" => pending = said(message, &mut ids)?,
            "tool" => {
                only(message, &["role", "tool_call_id", "content"], "a result")?;
                text(message, "content")?;
                let id = text(message, "tool_call_id")?;
                let place = pending.iter().position(|known| *known == id);
                ensure(place == Some(0), "a result that answers no call, or not in the order of the calls")?;
                pending.remove(0);
            }
            other => return Err(format!("the role {other}")),
        }
    }
    ensure(pending.is_empty() && messages.len() > 1, "no answer to a call, or no task")
}

/// The ids of the calls, in their order.
fn said<'a>(message: &'a Map<String, Value>, ids: &mut HashSet<&'a str>) -> Result<Vec<&'a str>, String> {
    only(message, &["role", "content", "tool_calls"], "what the model said")?;
    let Some(calls) = message.get("tool_calls") else {
        return text(message, "content").map(|_| Vec::new()).map_err(|_| {
            // Ollama's own words.
            "invalid message content type: <nil>".to_owned()
        });
    };
    let content = message.get("content").ok_or("no content beside calls")?;
    ensure(content.is_null() || content.as_str().is_some_and(|text| !text.is_empty()), "the content beside calls")?;
    let calls = calls.as_array().filter(|calls| !calls.is_empty()).ok_or("no calls in `tool_calls`")?;
    let mut pending = Vec::new();
    for call in calls {
        let call = object(call, "a call")?;
        only(call, &["id", "type", "function"], "a call")?;
        ensure(text(call, "type")? == "function", "a call that is none of a function")?;
        let id = text(call, "id")?;
        ensure(!id.is_empty() && ids.insert(id), "an id that is empty, or was there before")?;
        let function = object(&call["function"], "the function of a call")?;
        only(function, &["name", "arguments"], "the function of a call")?;
        ensure(is_name(text(function, "name")?), "the name in a call")?;
        let arguments = serde_json::from_str::<Map<String, Value>>(text(function, "arguments")?);
        // Ollama's own words.
        ensure(arguments.is_ok(), "invalid tool call arguments")?;
        pending.push(id);
    }
    Ok(pending)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

fn ensure(holds: bool, problem: &str) -> Checked {
    if holds { Ok(()) } else { Err(problem.to_owned()) }
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{what} is no object"))
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], String> {
    object.get(name).and_then(Value::as_array).map(Vec::as_slice).ok_or_else(|| format!("`{name}` is no list"))
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    object.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is no text"))
}

fn only(object: &Map<String, Value>, known: &[&str], what: &str) -> Checked {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("{what} has a field `{unknown}`")),
        None => Ok(()),
    }
}
