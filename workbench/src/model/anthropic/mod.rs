//! Models behind the Anthropic Messages API.

mod conversation;
mod history;
mod refusal;
mod reply;
mod request;
mod thinking;

pub use self::request::{Tool, tools};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use self::conversation::Conversation;
use self::history::History;
use self::request::Manner;
use self::thinking::Thinking;
use super::access::{self, AccessError};
use super::exchange::{Answer, Exchange, Patience, TRIES_OF_A_LOOK};
use super::provider::{CodeExecution, Findings, Programmatic, Provider, ProviderKind, ProviderOptions};
use super::trace::Trace;
use super::types::{Block, Message, Model, ModelError, ModelRequest, Role};
use crate::env;
use crate::nearest::suggestion;

/// The API's own address.
const ADDRESS: &str = "https://api.anthropic.com";

/// The version of the API that is spoken here. Source: the API's versioning page; it covers all that is sent.
const VERSION: &str = "2023-06-01";

/// How the ids of models begin that have no programmatic calling, although they take the tool. Source: the provider's page
/// on it.
pub const WITHOUT_PROGRAMMATIC_CALLING: &str = "claude-haiku-4-5";

/// Where requests are counted and not served.
const COUNT: &str = "messages/count_tokens";

/// One model of the API, with the key of the environment.
#[derive(Debug)]
pub struct Anthropic {
    name: String,
    id: String,
    exchange: Arc<Exchange>,
    caching: bool,
    code_execution: CodeExecution,
    /// What is said about thinking. Decided by the look before the first run, so that all runs of a command ask alike.
    thinking: Mutex<Thinking>,
}

impl Anthropic {
    /// The model of this id, with key and address of the environment; `--base-url` wins.
    ///
    /// # Errors
    /// When the key is missing, key or address are none, or the trace's folder cannot be made.
    pub fn from_environment(id: &str, options: &ProviderOptions) -> Result<Self, AccessError> {
        let name = name_of(id);
        let key = access::variable(env::ANTHROPIC_KEY)?.ok_or(AccessError::NoKey(env::ANTHROPIC_KEY, name))?;
        let base = match (&options.base_url, access::variable(env::ANTHROPIC_BASE_URL)?) {
            (Some(given), _) => access::address(given, "`--base-url`")?,
            (None, Some(set)) => access::address(&set, &format!("`{}`", env::ANTHROPIC_BASE_URL))?,
            (None, None) => access::address(ADDRESS, ADDRESS)?,
        };
        Self::new(id, &key, &base, options, Patience::default())
    }

    /// The model of this id below `base`, with or without the `/v1` of all addresses at its end.
    ///
    /// # Errors
    /// As those of [`Self::from_environment`].
    pub fn new(
        id: &str,
        key: &str,
        base: &Url,
        options: &ProviderOptions,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let mut base = base.clone();
        let path = base.path().trim_end_matches('/');
        if !path.ends_with("/v1") {
            let path = format!("{path}/v1");
            base.set_path(&path);
        }
        let key = access::secret("", key, env::ANTHROPIC_KEY).map_err(AccessError::BadKey)?;
        let headers = HeaderMap::from_iter([
            (HeaderName::from_static("x-api-key"), key),
            (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION)),
        ]);
        let exchange = Exchange::new(base, headers, patience, Trace::of(options)?).map_err(AccessError::Setup)?;
        Ok(Self {
            name: name_of(id),
            id: id.to_owned(),
            exchange: Arc::new(exchange),
            caching: options.caching,
            code_execution: options.code_execution,
            thinking: Mutex::new(Thinking::of_model(id)),
        })
    }

    fn manner(&self) -> Manner {
        let thinking = *self.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        Manner { id: self.id.clone(), thinking, caching: self.caching, code_execution: self.code_execution }
    }

    fn think(&self, thinking: Thinking) {
        *self.thinking.lock().unwrap_or_else(PoisonError::into_inner) = thinking;
    }

    /// What the API says about the model; nothing where it keeps no list of models.
    async fn description(&self) -> Result<Option<Value>, ModelError> {
        let path = format!("models/{}", in_path(&self.id));
        let answer = self.looking().get(&path, None).await?;
        match answer.status {
            200 => Ok(Some(self.document(&path, &answer)?)),
            404 | 405 => Ok(None),
            _ => Err(refusal::of(&self.exchange, &path, &answer, &self.id)),
        }
    }

    /// Tokens of the smallest request with the settings of all others, so that what the model does not allow is told
    /// before the first run, at no cost; nothing where the server does not count.
    async fn look(&self, thinking: Thinking) -> Result<Answer, ModelError> {
        let word = [Message { role: Role::User, content: vec![Block::Text { text: "Hello.".to_owned() }] }];
        let request =
            ModelRequest { system: "", tools: &[], messages: &word, max_tokens: 1, parallel_calls: true, until: None };
        let body = counted(&Manner { thinking, ..self.manner() }, &request)?;
        self.looking().post(COUNT, body, None, &mut Vec::new()).await
    }

    /// The way to the API for what is asked before the first run.
    fn looking(&self) -> Exchange {
        self.exchange.look(self.exchange.base().clone(), TRIES_OF_A_LOOK)
    }

    /// What the API counted.
    fn counted(&self, answer: &Answer) -> Result<u64, ModelError> {
        let document = self.document(COUNT, answer)?;
        let tokens = document["input_tokens"].as_u64().filter(|tokens| *tokens <= reply::MOST_TOKENS);
        tokens.ok_or_else(|| {
            let address = self.exchange.address(COUNT);
            ModelError::BadAnswer(format!(
                "{address} answers, but is no Messages API, which counts `input_tokens`; look at `--base-url` (it says {})",
                answer.words()
            ))
        })
    }

    fn document(&self, path: &str, answer: &Answer) -> Result<Value, ModelError> {
        serde_json::from_slice(&answer.body).map_err(|error| {
            ModelError::BadAnswer(format!("{}: the answer is no JSON ({error})", self.exchange.address(path)))
        })
    }

    /// The model's name is wrong: the error, with the nearest one there is.
    async fn unknown(&self, path: &str, answer: &Answer) -> ModelError {
        let listed = match self.looking().get("models", None).await {
            Ok(list) if list.status == 200 => self.document("models", &list).unwrap_or_default(),
            _ => Value::Null,
        };
        let ids: Vec<&str> =
            listed["data"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str()).collect();
        match refusal::of(&self.exchange, path, answer, &self.id) {
            ModelError::Refused { status, message } => {
                ModelError::Refused { status, message: message + &suggestion(&self.id, ids) }
            }
            other => other,
        }
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let Manner { thinking, caching, .. } = self.manner();
        let caching = if caching { "on" } else { "off" };
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings = BTreeMap::from([setting("thinking", thinking.setting()), setting("caching", caching)]);
        // A gateway may serve something else under the same name.
        let base = self.exchange.base().as_str();
        settings.extend((base != format!("{ADDRESS}/v1")).then(|| setting("address", base)));
        settings
    }

    async fn check(&self) -> Result<Findings, ModelError> {
        let mut findings = Findings::default();
        let description = self.description().await?;
        if let Some(thinking) = description.as_ref().and_then(Thinking::of_capabilities) {
            self.think(thinking);
        }
        let mut thinking = self.manner().thinking;
        let mut answer = self.look(thinking).await?;
        while answer.status == 400 && thinking::is_named_in(&answer.words()) {
            let Some(next) = thinking.next() else { break };
            thinking = next;
            answer = self.look(thinking).await?;
        }
        match (answer.status, &description) {
            // Whatever else says 200 to everything counts nothing.
            (200, _) => _ = self.counted(&answer)?,
            (404 | 405, Some(_)) => findings.warnings.push("this server does not count tokens".to_owned()),
            (404, None) => return Err(self.unknown(COUNT, &answer).await),
            _ => return Err(refusal::of(&self.exchange, COUNT, &answer, &self.id)),
        }
        self.think(thinking);
        findings.found.push(format!("{} serves {}", self.exchange.base(), described(&self.id, description.as_ref())));
        findings.found.push(format!("thinking {}", thinking.setting()));
        match &description {
            None => findings.warnings.push("this server does not describe its models".to_owned()),
            Some(description) => findings.warnings.extend(end_of_life(description)),
        }
        if self.exchange.sends_openly() {
            findings.warnings.push(format!("the key goes to {} without encryption", self.exchange.base()));
        }
        Ok(findings)
    }

    /// The API's own word, and ours where it has none: the older small model takes the tool and runs nothing of ours in it.
    async fn programmatic(&self) -> Result<Programmatic, ModelError> {
        let description = self.description().await?;
        let told = description.as_ref().and_then(|it| it["capabilities"]["code_execution"]["supported"].as_bool());
        Ok(match told.unwrap_or(!self.id.starts_with(WITHOUT_PROGRAMMATIC_CALLING)) {
            true => Programmatic::Supported,
            false => Programmatic::Unsupported(
                "the model takes the tool that runs scripts, but its scripts cannot call our tools".to_owned(),
            ),
        })
    }

    fn open(&self) -> Box<dyn Model> {
        Box::new(Conversation::new(Arc::clone(&self.exchange), self.manner()))
    }

    async fn count(&self, request: ModelRequest<'_>) -> Result<Option<u64>, ModelError> {
        let body = counted(&self.manner(), &request)?;
        let answer = self.exchange.post(COUNT, body, request.until, &mut Vec::new()).await?;
        match answer.status {
            200 => {}
            404 | 405 => return Ok(None),
            _ => return Err(refusal::of(&self.exchange, COUNT, &answer, &self.id)),
        }
        self.counted(&answer).map(Some)
    }
}

fn name_of(id: &str) -> String {
    format!("{}:{id}", ProviderKind::Anthropic.name())
}

/// The body of a request that is counted and not served.
fn counted(manner: &Manner, request: &ModelRequest<'_>) -> Result<Bytes, ModelError> {
    let mut history = History::default();
    history.hear(request.messages)?;
    Ok(history.body(&request::opening(manner, request, None, None)?, manner.caching))
}

/// An id as one segment of a path.
fn in_path(id: &str) -> String {
    id.bytes().fold(String::new(), |mut path, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' | b'@' => path.push(char::from(byte)),
            _ => path.push_str(&format!("%{byte:02X}")),
        }
        path
    })
}

/// The model in words: its name, what it reads and writes.
fn described(id: &str, description: Option<&Value>) -> String {
    let Some(description) = description else { return id.to_owned() };
    let mut text = match description["display_name"].as_str() {
        Some(name) => format!("{name} ({id})"),
        None => id.to_owned(),
    };
    for (key, what) in [("max_input_tokens", "reads"), ("max_tokens", "writes")] {
        if let Some(tokens) = description[key].as_u64() {
            text.push_str(&format!(", {what} {tokens} tokens"));
        }
    }
    text
}

/// That the model will not be there for long.
fn end_of_life(description: &Value) -> Option<String> {
    let words = |key: &str| description[key].as_str();
    match (words("retires_at"), words("lifecycle")) {
        (Some(date), _) => Some(format!("the model retires at {date}")),
        (None, Some(state)) if state != "active" => Some(format!("the model is {state}")),
        _ => None,
    }
}
