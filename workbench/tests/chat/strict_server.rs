//! A strict server of chat completions on the loopback interface, in the shapes of five real ones. What the model says is
//! the test's; the server counts what it received by a rule of its own and reports that as usage.
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::rules;
use crate::server::{Reply, Request, Server, answer, json as json_reply};

/// Whose habits the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    OpenAi,
    Ollama,
    LlamaCpp,
    Vllm,
    OpenRouter,
}

/// What the model answers.
pub(crate) enum Said {
    /// Words, and calls with their arguments.
    Turn(&'static str, Vec<(String, Value)>),
    /// A message and a reason, as they stand; the usage is added.
    Message(Value, Value),
    /// A whole document of status 200.
    Document(Value),
    /// A whole answer.
    Raw(Reply),
}

/// A request in which nothing is wrong.
pub(crate) struct Asked {
    pub(crate) document: Value,
    /// How often the model has spoken in this conversation.
    pub(crate) turn: usize,
    /// How many requests came before it, of whatever conversation.
    pub(crate) number: usize,
}

impl Asked {
    pub(crate) fn messages(&self) -> &[Value] {
        self.document["messages"].as_array().unwrap()
    }

    /// The tools on offer.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.document["tools"].as_array().into_iter().flatten();
        tools.map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
    }

    /// The texts of all results so far.
    pub(crate) fn results(&self) -> Vec<&str> {
        let results = self.messages().iter().filter(|message| message["role"] == "tool");
        results.map(|message| message["content"].as_str().unwrap()).collect()
    }

    /// Whether one call may be answered with, as a server sees it.
    fn is_serial(&self, shape: Shape) -> bool {
        match shape {
            Shape::Ollama => false,
            Shape::LlamaCpp => self.document["parallel_tool_calls"] != true,
            _ => self.document["parallel_tool_calls"] == false,
        }
    }
}

/// What happened.
#[derive(Default)]
pub(crate) struct Log {
    /// Tokens read and written, of each answer.
    pub(crate) counts: Vec<(u64, u64)>,
    /// What was wrong with requests.
    pub(crate) wrong: Vec<String>,
    /// The documents of all requests that were right.
    pub(crate) documents: Vec<Value>,
    /// What the model had said after the messages of a request, where it said it as it should.
    said: Vec<(Vec<Value>, Value)>,
}

pub(crate) struct StrictServer {
    server: Server,
    log: Arc<Mutex<Log>>,
}

/// The model of every shape; Ollama's has tools, `words-only` has none.
pub(crate) const MODEL: &str = "test-model";

impl StrictServer {
    /// A server that wants this key, or no key at all.
    pub(crate) fn start(
        shape: Shape,
        key: Option<&str>,
        model: impl Fn(&Asked) -> Said + Send + Sync + 'static,
    ) -> Self {
        let log = Arc::new(Mutex::new(Log::default()));
        let (kept, key) = (Arc::clone(&log), key.map(|key| format!("Bearer {key}")));
        let server = Server::start(move |request| {
            if request.header("authorization") != key.as_deref() {
                return error(shape, 401, "Incorrect API key provided", "invalid_api_key", Value::Null);
            }
            match request.target.as_str() {
                "/v1/chat/completions" => completions(shape, &kept, request, &model),
                other => about(shape, other, request),
            }
        });
        Self { server, log }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }

    /// What happened so far; a test that looks at it has no request under way.
    pub(crate) fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }
}

fn completions(shape: Shape, log: &Mutex<Log>, request: &Request, model: &dyn Fn(&Asked) -> Said) -> Reply {
    let mut log = log.lock().unwrap();
    let document: Value = match serde_json::from_slice(&request.body) {
        Ok(document) => document,
        Err(problem) => return refuse(&mut log, shape, &problem.to_string()),
    };
    if request.header("content-type") != Some("application/json") {
        return refuse(&mut log, shape, "the content type");
    }
    let mut fields = vec!["model", "messages", "tools", "max_tokens", "parallel_tool_calls"];
    fields.extend(match shape {
        Shape::OpenAi | Shape::OpenRouter => ["max_completion_tokens", "reasoning_effort"],
        Shape::Ollama => ["reasoning_effort", "reasoning_effort"],
        Shape::LlamaCpp | Shape::Vllm => ["chat_template_kwargs", "reasoning_effort"],
    });
    // What OpenAI's reasoning models say; the client is to ask again.
    let is_reasoning = document["model"].as_str().unwrap_or_default().starts_with("gpt-5");
    if shape == Shape::OpenAi && is_reasoning && document.get("max_tokens").is_some() {
        let words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                     'max_completion_tokens' instead.";
        return error(shape, 400, words, "unsupported_parameter", json!("max_tokens"));
    }
    if let Some(problem) = rules::problem(&document, &fields).or_else(|| log.broken_memory(&document)) {
        return refuse(&mut log, shape, &problem);
    }
    let turns = document["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    let asked = Asked { turn: turns.count(), number: log.documents.len(), document };
    log.documents.push(asked.document.clone());
    let (message, reason) = match model(&asked) {
        Said::Raw(reply) => return reply,
        Said::Document(document) => return json_reply(&document.to_string()),
        Said::Message(message, reason) => (message, reason),
        Said::Turn(words, mut calls) => {
            if asked.is_serial(shape) {
                calls.truncate(1);
            }
            let (message, reason) = message(shape, asked.number, words, &calls);
            log.said.push((asked.messages().to_vec(), message.clone()));
            (message, reason)
        }
    };
    let read = count(&asked.document);
    let written = message.to_string().len() as u64 / 4;
    log.counts.push((read, written));
    let whole = whole(shape, &message, &reason, &usage(shape, read, written));
    answer(200, &["content-type: application/json"], whole.to_string().as_bytes())
}

/// Tokens of a request, by a rule that is nobody's.
fn count(document: &Value) -> u64 {
    (document["messages"].to_string().len() + document["tools"].to_string().len()) as u64 / 4
}

impl Log {
    /// What a request tells otherwise than it was: earlier messages, or what the model said.
    fn broken_memory(&self, document: &Value) -> Option<String> {
        let messages = document["messages"].as_array()?;
        let last = messages.iter().rposition(|message| message["role"] == "assistant")?;
        let before = &messages[..last];
        if !self.documents.iter().any(|earlier| earlier["messages"].as_array().is_some_and(|known| known == before)) {
            return Some("the messages before the last answer are not those that were answered".to_owned());
        }
        let calls = |message: &Value| -> Vec<(Value, Value, Value)> {
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            let arguments =
                |call: &Value| serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            calls.iter().map(|call| (call["id"].clone(), call["function"]["name"].clone(), arguments(call))).collect()
        };
        let words = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        let told = &messages[last];
        // Runs of several modes begin alike.
        let said: Vec<&Value> = self.said.iter().filter(|(known, _)| known == before).map(|(_, said)| said).collect();
        let same = |said: &&Value| calls(said) == calls(told) && words(said) == words(told);
        (!said.is_empty() && !said.iter().any(same)).then(|| format!("the model said {said:?}, and not {told}"))
    }
}

fn refuse(log: &mut Log, shape: Shape, problem: &str) -> Reply {
    log.wrong.push(problem.to_owned());
    error(shape, 400, problem, "invalid_request_error", Value::Null)
}

/// An error as the server words it.
pub(crate) fn error(shape: Shape, status: u16, message: &str, code: &str, param: Value) -> Reply {
    let kind = "invalid_request_error";
    let body = match shape {
        Shape::OpenAi => json!({"error": {"message": message, "type": kind, "param": param, "code": code}}),
        Shape::Ollama => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        Shape::LlamaCpp => json!({"error": {"code": status, "message": message, "type": kind}}),
        Shape::Vllm => json!({"object": "error", "message": message, "type": "BadRequestError", "code": status}),
        Shape::OpenRouter => json!({"error": {"code": status, "message": message}, "user_id": "user_1"}),
    };
    answer(status, &["content-type: application/json"], body.to_string().as_bytes())
}

/// A regular message and its reason.
fn message(shape: Shape, number: usize, words: &str, calls: &[(String, Value)]) -> (Value, Value) {
    let reason = if calls.is_empty() { json!("stop") } else { json!("tool_calls") };
    let mut message = json!({"role": "assistant", "content": words});
    if words.is_empty() && shape != Shape::Ollama {
        message["content"] = Value::Null;
    }
    let prefix = match shape {
        Shape::Vllm => "chatcmpl-tool-",
        _ => "call_",
    };
    let call = |(place, (name, arguments)): (usize, &(String, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let mut call = json!({"id": format!("{prefix}{number}x{place}"), "type": "function", "function": function});
        if shape == Shape::Ollama {
            call["index"] = json!(place);
        }
        call
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    match shape {
        Shape::OpenAi => message["refusal"] = Value::Null,
        Shape::Vllm => message["reasoning_content"] = Value::Null,
        Shape::OpenRouter => message["reasoning"] = json!("I think."),
        Shape::Ollama | Shape::LlamaCpp => {}
    }
    if !calls.is_empty() || shape == Shape::Vllm {
        message["tool_calls"] = json!(calls);
    }
    (message, reason)
}

fn usage(shape: Shape, read: u64, written: u64) -> Value {
    let mut usage = json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written});
    let cached = json!({"cached_tokens": read / 2});
    match shape {
        Shape::Ollama => {}
        Shape::Vllm => usage["prompt_tokens_details"] = Value::Null,
        Shape::LlamaCpp => usage["prompt_tokens_details"] = cached,
        Shape::OpenAi => {
            usage["prompt_tokens_details"] = json!({"cached_tokens": read / 2, "audio_tokens": 0});
            usage["completion_tokens_details"] = json!({"reasoning_tokens": 0});
        }
        Shape::OpenRouter => {
            usage["prompt_tokens_details"] = cached;
            usage["cost"] = json!(0.000_12);
        }
    }
    usage
}

fn whole(shape: Shape, message: &Value, reason: &Value, usage: &Value) -> Value {
    let mut whole = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": usage,
    });
    match shape {
        Shape::Ollama => whole["system_fingerprint"] = json!("fp_ollama"),
        Shape::LlamaCpp => whole["timings"] = json!({"prompt_n": 3, "predicted_n": 5}),
        Shape::OpenRouter => whole["choices"][0]["native_finish_reason"] = json!("end_turn"),
        Shape::OpenAi | Shape::Vllm => {}
    }
    whole
}

/// What is asked beside conversations.
fn about(shape: Shape, target: &str, request: &Request) -> Reply {
    let listed = |owner: &str| {
        let entry = |id: &str, parameters: &[&str]| json!({"id": id, "object": "model", "owned_by": owner, "supported_parameters": parameters});
        json!({"object": "list", "data": [entry(MODEL, &["tools"]), entry("words-only", &["max_tokens"])]})
    };
    let body = match (shape, target) {
        (Shape::OpenRouter, "/v1/key") => json!({"data": {"label": "test"}}),
        (Shape::Ollama, "/v1/models") => listed("library"),
        (Shape::Ollama, "/api/show") => {
            let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            match asked["model"].as_str() {
                Some("words-only") => json!({"capabilities": ["completion"]}),
                Some(MODEL) => json!({"capabilities": ["completion", "tools"], "details": {}}),
                _ => return answer(404, &[], br#"{"error":"model not found"}"#),
            }
        }
        (Shape::LlamaCpp, "/v1/chat/completions/input_tokens") => {
            json!({"input_tokens": count(&serde_json::from_slice(&request.body).unwrap())})
        }
        (Shape::LlamaCpp, "/health") => json!({"status": "ok"}),
        (Shape::LlamaCpp, "/v1/models") => json!({"data": [{"id": MODEL, "owned_by": "llamacpp"}]}),
        (_, "/v1/models") => listed("test"),
        _ => return error(shape, 404, "no such page", "not_found", Value::Null),
    };
    answer(200, &["content-type: application/json"], body.to_string().as_bytes())
}
