//! A request as bytes. Each message is written once, however often the conversation is sent.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde_json::{Map, Value, json};

use super::complaint::Complaint;
use super::servers::Cap;
use super::thinking::Thinking;
use crate::model::arguments;
use crate::model::types::{Block, Message, ModelRequest, Role, ToolDefinition};

/// The field that allows several calls in one answer.
const PARALLEL: &str = "parallel_tool_calls";
/// Letters of a tool's name that servers take.
const NAME_LETTERS: usize = 64;

/// The fields that servers differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Which field bounds the answer.
    pub(super) cap: Cap,
    /// Whether the server has refused the other one, or this one.
    pub(super) cap_is_known: bool,
    /// What is said about several calls in one answer.
    pub(super) parallel: Parallel,
    /// What is said about thinking.
    pub(super) thinking: Thinking,
}

impl Form {
    /// What to try after this complaint; nothing when it is not about a field that servers differ in, or all was tried.
    pub(super) fn after(mut self, complaint: &Complaint) -> Option<Self> {
        if !self.cap_is_known && complaint.names(self.cap.field()) {
            (self.cap, self.cap_is_known) = (self.cap.other(), true);
            return Some(self);
        }
        if self.parallel != Parallel::Never && complaint.names(PARALLEL) {
            self.parallel = Parallel::Never;
            return Some(self);
        }
        if self.thinking.field().is_some_and(|field| complaint.names(field)) {
            self.thinking = Thinking::Own;
            return Some(self);
        }
        None
    }
}

/// When `parallel_tool_calls` is sent. What a server does by itself is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parallel {
    /// When there is to be one call.
    ToForbid,
    /// Always: the server allows one call when nothing is said.
    Always,
    /// Never: the server or its model does not know the field.
    Never,
}

impl Parallel {
    fn field(self, wanted: bool) -> Option<bool> {
        match self {
            Self::ToForbid => (!wanted).then_some(false),
            Self::Always => Some(wanted),
            Self::Never => None,
        }
    }
}

/// The messages of one conversation as they are sent. A conversation only grows.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// `,{…},{…}`
    written: Vec<u8>,
    messages: usize,
}

impl Conversation {
    /// The body of a request, which must continue the one before.
    pub(super) fn body(&mut self, request: &ModelRequest<'_>, model: &str, form: &Form) -> Bytes {
        for message in request.messages.get(self.messages..).unwrap_or_default() {
            self.add(message);
        }
        self.messages = request.messages.len();
        let system = json!({ "role": "system", "content": request.system }).to_string();
        let settings = settings(request, model, form).to_string();
        let mut body = BytesMut::with_capacity(system.len() + self.written.len() + settings.len() + 32);
        body.put_slice(b"{\"messages\":[");
        body.put_slice(system.as_bytes());
        body.put_slice(&self.written);
        body.put_slice(b"],");
        // An object, too, of which only the brace at its end is needed.
        body.put_slice(&settings.as_bytes()[1..]);
        body.freeze()
    }

    /// A message of ours is several of theirs: each result is one, and they come before any words.
    fn add(&mut self, message: &Message) {
        let words = words(&message.content);
        if message.role == Role::Assistant {
            return self.write(&said(&message.content, &words));
        }
        for block in &message.content {
            if let Block::ToolResult { tool_use_id, content, .. } = block {
                self.write(&json!({ "role": "tool", "tool_call_id": tool_use_id, "content": content }));
            }
        }
        if message.content.iter().any(|block| matches!(block, Block::Text { .. })) {
            self.write(&json!({ "role": "user", "content": words }));
        }
    }

    fn write(&mut self, message: &Value) {
        self.written.push(b',');
        self.written.extend_from_slice(message.to_string().as_bytes());
    }
}

/// Everything but the messages.
fn settings(request: &ModelRequest<'_>, model: &str, form: &Form) -> Value {
    let mut settings = Map::new();
    settings.insert("model".to_owned(), json!(model));
    settings.insert(form.cap.field().to_owned(), json!(request.max_tokens));
    form.thinking.ask(&mut settings);
    if !request.tools.is_empty() {
        settings.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        if let Some(parallel) = form.parallel.field(request.parallel_calls) {
            settings.insert(PARALLEL.to_owned(), json!(parallel));
        }
    }
    Value::Object(settings)
}

fn tool(tool: &ToolDefinition) -> Value {
    let ToolDefinition { name, description, input_schema, .. } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": input_schema } })
}

/// What the model said, as it is sent back: without its thinking, and in a form that every server takes. Ollama refuses
/// arguments that are no object, and content that is null where there is no call.
fn said(content: &[Block], words: &str) -> Value {
    let calls: Vec<Value> = content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse { id, name, input, .. } => {
                let function = json!({ "name": name_as_sent(name), "arguments": arguments::as_sent(input) });
                Some(json!({ "id": id, "type": "function", "function": function }))
            }
            _ => None,
        })
        .collect();
    if calls.is_empty() {
        return json!({ "role": "assistant", "content": words });
    }
    let words = if words.is_empty() { Value::Null } else { json!(words) };
    json!({ "role": "assistant", "content": words, "tool_calls": calls })
}

fn words(content: &[Block]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A name that no tool can have would make every later request fail; what the model reads about its call still names
/// it as it was.
fn name_as_sent(name: &str) -> String {
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let taken = name.chars().take(NAME_LETTERS).map(|letter| if is_taken(letter) { letter } else { '_' });
    let name: String = taken.collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn form() -> Form {
        Form {
            cap: Cap::MaxTokens,
            cap_is_known: false,
            parallel: Parallel::ToForbid,
            thinking: Thinking::Effort("low"),
        }
    }

    fn conversation() -> Vec<Message> {
        let text = |text: &str| Block::Text { text: text.to_owned() };
        let call = |id: &str, name: &str, input: Value| Block::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            caller: None,
        };
        let result = |id: &str, content: &str| Block::ToolResult {
            tool_use_id: id.to_owned(),
            content: content.to_owned(),
            is_error: content.starts_with("ERROR"),
        };
        let thought = Block::Other(json!({ "type": "reasoning", "reasoning": "Cats." }));
        let user = |content| Message { role: Role::User, content };
        let model = |content| Message { role: Role::Assistant, content };
        vec![
            user(vec![text("Find \"cats\".")]),
            model(vec![thought, call("a", "get_object", json!({ "object_id": 7 })), call("b", "né", json!("{\"x"))]),
            user(vec![result("a", "{\"title\":\"Katze\"}"), result("b", "ERROR: no such tool")]),
            model(vec![text("One more."), call("c", "get_object", json!({ "object_id": 8 }))]),
            user(vec![result("c", "null")]),
            model(Vec::new()),
        ]
    }

    fn body(conversation: &mut Conversation, messages: &[Message], tools: &[ToolDefinition]) -> Value {
        let request =
            ModelRequest { system: "You look.", tools, messages, max_tokens: 100, parallel_calls: false, until: None };
        serde_json::from_slice(&conversation.body(&request, "m", &form())).unwrap()
    }

    #[test]
    fn what_is_sent() {
        let tools = [ToolDefinition {
            name: "get_object".to_owned(),
            description: "One object.".to_owned(),
            input_schema: json!({ "type": "object" }),
            callers: crate::model::types::Callers::Direct,
        }];
        insta::assert_json_snapshot!(body(&mut Conversation::default(), &conversation(), &tools));
        let words = body(&mut Conversation::default(), &conversation()[..1], &[]);
        let fields: Vec<&String> = words.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["messages", "model", "max_tokens", "reasoning_effort"]);
    }

    #[test]
    fn a_conversation_that_grew_is_what_it_is_when_written_at_once() {
        let (messages, mut growing) = (conversation(), Conversation::default());
        for length in 1..=messages.len() {
            let grown = body(&mut growing, &messages[..length], &[]);
            assert_eq!(grown, body(&mut Conversation::default(), &messages[..length], &[]));
        }
    }
}
