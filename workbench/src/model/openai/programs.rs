//! One conversation over OpenAI's Responses API, with programs that the provider runs and that call our tools. Nothing is
//! kept at the provider: every item goes back in its place.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::asking::Outcome;
use super::endpoint::{Endpoint, PROGRAMS_PATH};
use super::thinking::Thinking;
use super::usage::{Read, Reported};
use crate::model::arguments;
use crate::model::tokens::{ConversationCount, count_blocks};
use crate::model::types::{
    Block, Caller, Callers, Message, ModelError, ModelReply, ModelRequest, Retry, Role, StopReason, ToolDefinition,
    Usage,
};

/// Times in a row that an answer may have neither words nor calls: the API says to ask again, and not for ever.
const MOST_EMPTY: u32 = 10;

/// A conversation. It only grows.
pub(super) struct Programs {
    endpoint: Arc<Endpoint>,
    /// All items so far, the model's own as they came.
    items: Vec<Value>,
    heard: usize,
    /// What the model said last, until the runner repeats it.
    said: Option<Vec<Value>>,
    /// Who made a call, to be sent back untouched with its result.
    callers: HashMap<String, Value>,
    count: ConversationCount,
    empty: u32,
}

/// An answer with its parts taken apart.
struct Said {
    content: Vec<Block>,
    items: Vec<Value>,
    stop_reason: StopReason,
    stop_detail: Option<String>,
}

impl Programs {
    pub(super) fn new(endpoint: Arc<Endpoint>) -> Self {
        let (items, callers, count) = (Vec::new(), HashMap::new(), ConversationCount::default());
        Self { endpoint, items, heard: 0, said: None, callers, count, empty: 0 }
    }

    /// The next answer.
    pub(super) async fn reply(
        &mut self,
        request: ModelRequest<'_>,
        retries: &mut Vec<Retry>,
    ) -> Result<ModelReply, ModelError> {
        self.hear(request.messages);
        let document = match self.endpoint.ask(PROGRAMS_PATH, &self.body(&request), request.until, retries).await? {
            Outcome::Served(document) => document,
            Outcome::Refused(_, error) => return Err(error),
        };
        let bad = |problem: &str| self.endpoint.bad_answer(PROGRAMS_PATH, problem);
        let said = read(&document).map_err(|problem| bad(&problem))?;
        self.empty = if said.stop_reason == StopReason::Paused { self.empty + 1 } else { 0 };
        if self.empty > MOST_EMPTY {
            return Err(bad(&format!("has had neither words nor calls {} times in a row", self.empty)));
        }
        for item in &said.items {
            if let (Some(id), caller @ Value::Object(_)) = (item["call_id"].as_str(), &item["caller"]) {
                self.callers.insert(id.to_owned(), caller.clone());
            }
        }
        let usage = self.usage(&request, &document, &said.content);
        self.said = Some(said.items);
        let Said { content, stop_reason, stop_detail, .. } = said;
        Ok(ModelReply { content, stop_reason, stop_detail, usage, cost: None, container: None })
    }

    /// Takes in what is new of a conversation, which continues the one before.
    fn hear(&mut self, messages: &[Message]) {
        for message in messages.get(self.heard..).unwrap_or_default() {
            if message.role == Role::Assistant {
                self.items.extend(self.said.take().unwrap_or_default());
                continue;
            }
            for block in &message.content {
                match block {
                    Block::ToolResult { tool_use_id, content, .. } => {
                        let mut item =
                            json!({ "type": "function_call_output", "call_id": tool_use_id, "output": content });
                        if let Some(caller) = self.callers.get(tool_use_id) {
                            item["caller"] = caller.clone();
                        }
                        self.items.push(item);
                    }
                    Block::Text { text } => self.items.push(json!({ "role": "user", "content": text })),
                    Block::ToolUse { .. } | Block::Other(_) => {}
                }
            }
        }
        self.heard = messages.len();
    }

    fn body(&self, request: &ModelRequest<'_>) -> Bytes {
        let mut body = Map::new();
        let mut set = |key: &str, value: Value| _ = body.insert(key.to_owned(), value);
        set("model", json!(self.endpoint.model()));
        set("store", json!(false));
        set("include", json!(["reasoning.encrypted_content"]));
        if !request.system.trim().is_empty() {
            set("instructions", json!(request.system));
        }
        set("max_output_tokens", json!(request.max_tokens));
        if let Thinking::Effort(effort) = self.endpoint.thinking {
            set("reasoning", json!({ "effort": effort }));
        }
        let runner = json!({ "type": "programmatic_tool_calling" });
        set("tools", std::iter::once(runner).chain(request.tools.iter().map(tool)).collect());
        set("input", Value::Array(self.items.clone()));
        Value::Object(body).to_string().into()
    }

    /// What the server counted; what it did not is counted here. A request that only brought results to a program may
    /// have cost nothing.
    fn usage(&mut self, request: &ModelRequest<'_>, document: &Value, content: &[Block]) -> Usage {
        let reported = Reported::in_response(document);
        let read = reported.read.unwrap_or_else(|| Read { uncached: self.count.read(request), ..Read::default() });
        Usage {
            input_tokens: read.uncached,
            output_tokens: reported.written.unwrap_or_else(|| count_blocks(content)),
            cache_read_tokens: read.from_cache,
            cache_write_tokens: read.to_cache,
            estimated: reported.read.is_none() || reported.written.is_none(),
        }
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    let callers: &[&str] = match tool.callers {
        Callers::Direct => &["direct"],
        Callers::Code => &["programmatic"],
        Callers::Both => &["direct", "programmatic"],
    };
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        // The API's default refuses schemas with arguments that may be left out.
        "strict": false,
        "allowed_callers": callers,
    })
}

/// Takes an answer apart. The error goes on after `the answer of …`.
fn read(document: &Value) -> Result<Said, String> {
    let items = document["output"].as_array().ok_or("has no list `output`")?;
    let mut content = Vec::new();
    let (mut has_calls, mut has_words) = (false, false);
    for item in items {
        let text = |key: &str| item[key].as_str().filter(|text| !text.is_empty());
        match item["type"].as_str() {
            Some("function_call") => {
                let (Some(id), Some(name)) = (text("call_id"), text("name")) else {
                    return Err("has a call without its id or its name".to_owned());
                };
                let is_known = |block: &Block| matches!(block, Block::ToolUse { id: other, .. } if other == id);
                if content.iter().any(is_known) {
                    return Err(format!("has two calls of the id `{id}`"));
                }
                has_calls = true;
                content.push(Block::ToolUse {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    input: arguments::of(&item["arguments"]),
                    caller: caller(&item["caller"]),
                });
            }
            Some("message") => {
                has_words = true;
                let parts = item["content"].as_array().into_iter().flatten();
                let words = parts.filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str()));
                content.extend(words.map(|text| Block::Text { text: text.to_owned() }));
            }
            Some(_) => content.push(Block::Other(item.clone())),
            None => return Err("has an item without a type".to_owned()),
        }
    }
    let refused = items
        .iter()
        .any(|item| item["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "refusal")));
    let (stop_reason, stop_detail) = match document["status"].as_str() {
        Some("failed" | "cancelled" | "in_progress" | "queued") => {
            return Err(format!("says that it is {}", document["status"]));
        }
        Some("incomplete") => {
            let reason = document["incomplete_details"]["reason"].as_str().unwrap_or("for no reason that it tells");
            (StopReason::MaxTokens, Some(format!("the answer is incomplete: {reason}")))
        }
        _ if has_calls => (StopReason::ToolUse, None),
        _ if refused => (StopReason::Refusal, None),
        _ if has_words => (StopReason::EndTurn, None),
        // Neither is an end: the API says to ask again.
        _ => (StopReason::Paused, None),
    };
    Ok(Said { content, items: items.clone(), stop_reason, stop_detail })
}

fn caller(caller: &Value) -> Option<Caller> {
    let (kind, id) = (caller["type"].as_str()?, caller["caller_id"].as_str()?);
    (kind == "program").then(|| Caller { kind: kind.to_owned(), tool_id: id.to_owned() })
}
