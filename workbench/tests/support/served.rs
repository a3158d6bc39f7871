//! `workbench serve` as a process of its own, asked over plain HTTP.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::patience::{until, wait_until};
use crate::processes::{Process, Running, children};

/// The keys it lets in.
pub(crate) const KEYS: [&str; 2] = ["sk-of-the-first", "sk-of-the-other"];

/// A server, with the turns of a test for its model if nothing else is said.
pub(crate) struct Served {
    process: Running,
    url: String,
    folder: TempDir,
    client: reqwest::Client,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Served {
    pub(crate) fn start(turns: &Value, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns.json");
        fs::write(&file, turns.to_string()).unwrap();
        let speaker = ["--as", "claude-haiku-4-5", "--turns", file.to_str().unwrap()];
        Self::of(folder, &[&speaker, options].concat(), &[])
    }

    /// One of these arguments and variables, in the workspace.
    pub(crate) fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(tempfile::tempdir().unwrap(), arguments, variables)
    }

    fn of(folder: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        workbench::web::use_ring();
        let log = folder.path().join("log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--token", KEYS[0], "--token", KEYS[1]]).args(arguments);
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
        for variable in workbench::env::KEYS {
            command.env_remove(variable);
        }
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut process = Running(command.spawn().unwrap());
        let mut url = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{}", fs::read_to_string(&log).unwrap());
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { process, url: url.trim().to_owned(), folder, client }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// The exit code, when it has ended.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.process.0.try_wait().unwrap().and_then(|status| status.code())
    }

    /// Whether it has ended, however it did.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.0.try_wait().unwrap().is_some()
    }

    /// What it told.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Waits until it has told this.
    pub(crate) async fn tells(&self, part: &str) {
        until(&format!("the log has `{part}`: {}", self.log()), || self.log().contains(part)).await;
    }

    /// The interpreters it has.
    pub(crate) fn workers(&self) -> Vec<Process> {
        children(self.id()).into_iter().filter(Process::is_alive).collect()
    }

    /// The interpreters it has, as soon as there are so many.
    pub(crate) fn workers_when(&self, count: usize) -> Vec<Process> {
        wait_until("there are so many interpreters", || self.workers().len() == count);
        self.workers()
    }

    /// Asks for a message with the first key.
    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.post_as(KEYS[0], body).await
    }

    pub(crate) async fn post_as(&self, key: &str, body: &Value) -> Answer {
        self.send("POST", "/v1/messages", &headers(key), body.to_string()).await.unwrap()
    }

    /// A request for a message that need not be waited for; what becomes of it is not looked at.
    pub(crate) fn sender(&self, body: Value) -> impl Future<Output = ()> + Send + 'static {
        let mut request = self.client.post(format!("{}/v1/messages", self.url)).body(body.to_string());
        for (name, value) in headers(KEYS[0]) {
            request = request.header(name, value);
        }
        async move { _ = request.send().await }
    }

    /// Sends anything.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.client.request(method.parse().unwrap(), format!("{}{path}", self.url)).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {status} {text}"));
        Ok(Answer { status, headers, body })
    }
}

pub(crate) fn headers(key: &str) -> [(&str, &str); 3] {
    [("x-api-key", key), ("anthropic-version", "2023-06-01"), ("content-type", "application/json")]
}

impl Answer {
    /// `error.message`.
    pub(crate) fn message(&self) -> &str {
        self.body["error"]["message"].as_str().unwrap_or_default()
    }

    /// The contents of the cells' results.
    pub(crate) fn results(&self) -> Vec<&Value> {
        self.blocks("code_execution_tool_result").map(|block| &block["content"]).collect()
    }

    /// The blocks of a type.
    pub(crate) fn blocks(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.body["content"].as_array().into_iter().flatten().filter(move |block| block["type"] == kind)
    }
}

/// A first question, with a tool for code, one for the model, and the tool that runs cells.
pub(crate) fn question() -> Value {
    json!({
        "model": "turns", "max_tokens": 100,
        "messages": [{ "role": "user", "content": "Go on." }],
        "tools": [
            { "type": "code_execution_20260120", "name": "code_execution" },
            { "name": "get_order", "input_schema": { "type": "object" }, "allowed_callers": ["code_execution_20260120"] },
            { "name": "note", "description": "Notes.", "input_schema": { "type": "object" } },
        ],
    })
}

/// The request that goes on after this answer: its calls with this result each, or other words.
pub(crate) fn next(asked: &Value, answer: &Answer, result: &Value) -> Value {
    let mut request = asked.clone();
    if let Some(id) = answer.body["container"]["id"].as_str() {
        request["container"] = id.into();
    }
    let mut content: Vec<Value> = answer
        .blocks("tool_use")
        .map(|call| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": result }))
        .collect();
    if content.is_empty() {
        content.push(json!({ "type": "text", "text": "And now?" }));
    }
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "assistant", "content": answer.body["content"] }));
    messages.push(json!({ "role": "user", "content": content }));
    request
}
