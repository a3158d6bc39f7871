//! A strict Messages API on the loopback interface: it refuses whatever the real one refuses, answers with scripted turns,
//! counts what it was sent by a rule of its own, and goes wrong on demand.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

mod count;
mod memory;
mod models;
mod pairing;
mod rules;

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use self::count::Counted;
use self::memory::Memory;
pub(crate) use self::rules::Refusal;
use crate::server::{Reply, Request, Server, answer, head};

/// The only key it knows.
pub(crate) const KEY: &str = "sk-ant-test-0123456789abcdefABCDEF";

const JSON: &str = "content-type: application/json";

/// What the model says, turn by turn, in each mode. A turn has the `content` of an answer and, where it is not the usual one,
/// its `stop_reason` and other fields; calls get their ids here. Behind the last turn the last is said again.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) serial: Vec<Value>,
    pub(crate) parallel: Vec<Value>,
    pub(crate) code: Vec<Value>,
}

impl Script {
    /// The same turns in every mode.
    pub(crate) fn of(turns: &[Value]) -> Self {
        Self { serial: turns.to_vec(), parallel: turns.to_vec(), code: turns.to_vec() }
    }

    fn turn(&self, mode: &str, number: usize) -> Value {
        let turns = match mode {
            "serial" => &self.serial,
            "loop" => &self.parallel,
            _ => &self.code,
        };
        turns[number.min(turns.len() - 1)].clone()
    }
}

/// What a request to `/v1/messages` meets in place of its answer.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// None: it is served.
    Not,
    /// An error of the API, with these headers.
    Status(u16, &'static str, Vec<&'static str>),
    /// The connection ends in the middle of the answer.
    HalfBody,
    /// The answer comes a byte at a time, without end.
    SlowBody,
    /// The answer is cut, but of the length that was told.
    BrokenJson,
    /// A page of a gateway.
    Page,
    /// Whatever this is.
    Raw(u16, Vec<&'static str>, String),
}

/// A request it has answered.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// `messages`, `count_tokens`, `models`.
    pub(crate) what: &'static str,
    /// The mode that the tools and the choice of them tell; empty where there are none.
    pub(crate) mode: &'static str,
    pub(crate) status: u16,
    /// What it counted, in answers of the model.
    pub(crate) counted: Option<Counted>,
    /// The error it gave.
    pub(crate) error: String,
    pub(crate) body: Value,
}

/// A running one.
pub(crate) struct MessagesApi {
    server: Server,
    state: Arc<State>,
}

struct State {
    script: Script,
    /// Whether there are the endpoints of models; some gateways have none.
    describes: bool,
    faults: Mutex<VecDeque<Fault>>,
    memory: Mutex<Memory>,
    served: Mutex<Vec<Served>>,
    /// Raised while answers to messages are held back.
    held: Mutex<Option<usize>>,
}

impl MessagesApi {
    pub(crate) fn start(script: Script) -> Self {
        Self::with(script, true, Memory::default())
    }

    /// One that takes what the model said in any bytes of the same meaning, as the real one does of all but thoughts.
    pub(crate) fn by_value(script: Script) -> Self {
        Self::with(script, true, Memory::by_value())
    }

    /// One without endpoints for models.
    pub(crate) fn without_models(script: Script) -> Self {
        Self::with(script, false, Memory::default())
    }

    fn with(script: Script, describes: bool, memory: Memory) -> Self {
        let state = Arc::new(State {
            script,
            describes,
            faults: Mutex::default(),
            memory: Mutex::new(memory),
            served: Mutex::default(),
            held: Mutex::default(),
        });
        let serving = Arc::clone(&state);
        Self { server: Server::start(move |request| serving.answer(request)), state }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// The next requests for messages meet these, one each.
    pub(crate) fn meet(&self, faults: impl IntoIterator<Item = Fault>) -> &Self {
        self.state.faults.lock().unwrap().extend(faults);
        self
    }

    /// Requests for messages are answered until so many were, and then no more; `None` lets all through again.
    pub(crate) fn hold_after(&self, answers: Option<usize>) {
        *self.state.held.lock().unwrap() = answers;
    }

    /// What it answered so far, in order.
    pub(crate) fn served(&self) -> Vec<Served> {
        self.state.served.lock().unwrap().clone()
    }

    /// The answers of the model so far.
    pub(crate) fn turns(&self) -> Vec<Served> {
        self.served().into_iter().filter(|it| it.what == "messages" && it.status == 200).collect()
    }

    /// What it refused.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.served().into_iter().filter(|it| !it.error.is_empty()).map(|it| it.error).collect()
    }

    /// All requests as they came.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }

    /// Has a command ask this API, with its key.
    pub(crate) fn serves<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", self.url())
    }
}

impl State {
    fn answer(&self, request: &Request) -> Reply {
        let path = request.target.split('?').next().unwrap_or_default();
        // As behind a gateway.
        let path = path.strip_prefix("/proxy").unwrap_or(path);
        let outcome = match (request.method.as_str(), path) {
            ("GET", path) if self.describes && path.starts_with("/v1/models") => self.model(request, path),
            ("POST", "/v1/messages/count_tokens") => self.count(request),
            ("POST", "/v1/messages") => return self.message(request),
            _ => Err(Refusal::not_found("Not Found")),
        };
        let what = if path.starts_with("/v1/models") { "models" } else { "count_tokens" };
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let (status, document) = match outcome {
            Ok(document) => (200, document),
            Err(refusal) => (refusal.status, refusal.document()),
        };
        self.note(Served { what, mode: "", status, counted: None, error: error_of(&document), body });
        reply(status, &[], &document)
    }

    fn model(&self, request: &Request, path: &str) -> Result<Value, Refusal> {
        rules::headers(request)?;
        match path.trim_start_matches("/v1/models").trim_start_matches('/') {
            "" => Ok(models::list()),
            id => models::find(id).map(|card| card.description()),
        }
    }

    fn count(&self, request: &Request) -> Result<Value, Refusal> {
        let body = rules::body(request, rules::Kind::Count)?;
        Ok(json!({ "input_tokens": count::parts(&body).iter().map(|part| part.tokens).sum::<u64>() }))
    }

    fn message(&self, request: &Request) -> Reply {
        if self.is_held() {
            return Reply::Endless(head(200, &[JSON], Some(1 << 20)), b" ".to_vec(), Duration::from_millis(20));
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let mode = mode_of(&body);
        let served =
            |status, counted, error| Served { what: "messages", mode, status, counted, error, body: body.clone() };
        let fault = self.faults.lock().unwrap().pop_front();
        if let Some(fault) = fault.filter(|fault| !matches!(fault, Fault::Not)) {
            let (status, error, reply) = fault.reply();
            self.note(served(status, None, error));
            return reply;
        }
        let outcome = rules::body(request, rules::Kind::Messages).and_then(|body| {
            let mut memory = self.memory.lock().unwrap();
            memory.check(&request.body)?;
            let said = body["messages"].as_array().unwrap().iter().filter(|it| it["role"] == "assistant").count();
            let turn = memory.with_ids(self.script.turn(mode, said));
            let content = memory.said(&request.body, &turn);
            let counted = memory.count(&body, &content);
            Ok((document(&body, &turn, &content, &counted), counted))
        });
        match outcome {
            Ok((text, counted)) => {
                self.note(served(200, Some(counted), String::new()));
                answer(200, &[JSON, "request-id: req_test"], text.as_bytes())
            }
            Err(refusal) => {
                self.note(served(refusal.status, None, error_of(&refusal.document())));
                reply(refusal.status, &[], &refusal.document())
            }
        }
    }

    fn is_held(&self) -> bool {
        let answered = self.served.lock().unwrap().iter().filter(|it| it.what == "messages").count();
        self.held.lock().unwrap().is_some_and(|most| answered >= most)
    }

    fn note(&self, served: Served) {
        self.served.lock().unwrap().push(served);
    }
}

impl Fault {
    /// Status, error and bytes.
    fn reply(self) -> (u16, String, Reply) {
        const WHOLE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"#;
        let told = |status, error: &str, reply| (status, error.to_owned(), reply);
        match self {
            Self::Status(status, kind, headers) => {
                let refusal = Refusal { status, kind, message: "as the test wants".to_owned() };
                (status, kind.to_owned(), reply(status, &headers, &refusal.document()))
            }
            Self::HalfBody => {
                let mut bytes = head(200, &[JSON], Some(4096));
                bytes.extend_from_slice(WHOLE.as_bytes());
                told(200, "half a body", Reply::Close(bytes))
            }
            Self::SlowBody => {
                let start = head(200, &[JSON], Some(1 << 20));
                told(200, "a slow body", Reply::Endless(start, b" ".to_vec(), Duration::from_millis(20)))
            }
            Self::BrokenJson => told(200, "broken JSON", answer(200, &[JSON], WHOLE.as_bytes())),
            Self::Page => told(200, "a page", answer(200, &["content-type: text/html"], b"<h1>Sign in</h1>")),
            Self::Not => unreachable!("it is served"),
            Self::Raw(status, headers, body) => told(status, "raw", answer(status, &headers, body.as_bytes())),
        }
    }
}

fn reply(status: u16, headers: &[&str], document: &Value) -> Reply {
    let headers = [&[JSON, "request-id: req_test"], headers].concat();
    answer(status, &headers, document.to_string().as_bytes())
}

fn error_of(document: &Value) -> String {
    document["error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// Which mode a request is of.
fn mode_of(body: &Value) -> &'static str {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    match tools.iter().any(|tool| tool["name"] == "run_python") {
        true => "code",
        false if tools.is_empty() => "",
        false if body["tool_choice"]["disable_parallel_tool_use"] == true => "serial",
        false => "loop",
    }
}

/// The answer's text. Its content is as the memory has it, byte for byte.
fn document(body: &Value, turn: &Value, content: &str, counted: &Counted) -> String {
    let has_calls = turn["content"].as_array().is_some_and(|it| it.iter().any(|block| block["type"] == "tool_use"));
    let mut document = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": "CONTENT",
        "stop_reason": if has_calls { "tool_use" } else { "end_turn" }, "stop_sequence": null, "stop_details": null,
        "container": null, "usage": counted.usage(),
    });
    for (key, value) in turn.as_object().unwrap().iter().filter(|(key, _)| *key != "content") {
        document[key] = value.clone();
    }
    document.to_string().replacen("\"CONTENT\"", content, 1)
}
