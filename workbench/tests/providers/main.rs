//! Both wire formats against clients and servers that others wrote. `run` beside this file installs them and runs these
//! tests, which are ignored without them.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "a part of each file is used")]
#![cfg(feature = "embedded")]

#[path = "../chat/asking.rs"]
mod asking;
#[path = "../support/messages_api/mod.rs"]
mod messages_api;
#[path = "../support/program.rs"]
mod program;
#[path = "../chat/rules.rs"]
mod rules;
#[path = "../support/server.rs"]
mod server;
#[path = "../chat/strict_server.rs"]
mod strict_server;

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use asking::{ask, holding};
use messages_api::{MessagesApi, Script};
use program::{Program, workspace};
use serde_json::{Value, json};
use strict_server::{Asked, Said, Shape, StrictServer};

/// The key in `litellm.yaml`.
const PROXY_KEY: &str = "sk-of-the-proxy-0123456789";

/// The interpreter that has the packages of `requirements.txt`.
fn python() -> PathBuf {
    std::env::var_os("PROVIDERS_PYTHON").unwrap_or_default().into()
}

fn here() -> PathBuf {
    workspace().join("workbench/tests/providers")
}

/// What a client prints: tokens read and written, of each answer.
fn client(script: &str, url: &str, key: &str) -> Vec<(u64, u64)> {
    let output = Command::new(python()).arg(here().join(script)).args([url, key]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    counts(&String::from_utf8(output.stdout).unwrap())
}

fn counts(text: &str) -> Vec<(u64, u64)> {
    let number = |text: Option<&str>| text.unwrap().parse().unwrap();
    let line = |line: &str| {
        let mut numbers = line.split(' ');
        (number(numbers.next()), number(numbers.next()))
    };
    text.lines().map(line).collect()
}

#[test]
#[ignore = "needs the clients that tests/providers/run installs"]
fn the_client_of_openai_is_served_by_every_shape() {
    fn adder(asked: &Asked) -> Said {
        let call = |a: i32, b: i32| ("add".to_owned(), json!({"a": a, "b": b}));
        match asked.turn {
            0 => Said::Turn("", vec![call(1, 2), call(3, 4)]),
            _ => Said::Turn("They are 3 and 7.", Vec::new()),
        }
    }
    for shape in [Shape::OpenAi, Shape::Ollama, Shape::Vllm, Shape::OpenRouter] {
        let server = StrictServer::start(shape, Some("sk-test"), adder);
        let told = client("openai_client.py", &server.url(), "sk-test");
        assert_eq!(server.log().wrong, Vec::<String>::new(), "{shape:?}");
        assert_eq!((told.len(), &told), (2, &server.log().counts), "{shape:?}");
    }
}

#[test]
#[ignore = "needs the clients that tests/providers/run installs"]
fn the_client_of_anthropic_is_served() {
    let call = |a: i32, b: i32| json!({"type": "tool_use", "name": "add", "input": {"a": a, "b": b}});
    let turns = [
        json!({"content": [call(1, 2), call(3, 4)]}),
        json!({"content": [{"type": "text", "text": "They are 3 and 7."}]}),
    ];
    let api = MessagesApi::by_value(Script::of(&turns));
    let told = client("anthropic_client.py", &api.url(), messages_api::KEY);
    assert_eq!(api.errors(), Vec::<String>::new());
    let counted: Vec<(u64, u64)> =
        api.turns().iter().map(|it| it.counted.unwrap()).map(|it| (it.read, it.written)).collect();
    assert_eq!((told.len(), told), (2, counted));
}

/// LiteLLM's proxy, which ends with the test.
struct Proxy {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Proxy {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(python().with_file_name("litellm"));
        command.arg("--config").arg(here().join("litellm.yaml")).args(["--host", "127.0.0.1", "--port"]);
        command.arg(port.to_string()).env("CURATOR_COUNTS", folder.path().join("counts"));
        // It asks for nothing beyond this machine: no list of prices, and a proxy at which nothing listens.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("HTTPS_PROXY", "http://127.0.0.1:9");
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut proxy = Self { child: command.spawn().unwrap(), port, folder };
        proxy.wait_until_ready();
        proxy
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn wait_until_ready(&mut self) {
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.child.try_wait().unwrap();
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(ended.is_none(), "the proxy ended: {log}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// What its model counted since this was last asked.
    fn take_counts(&self) -> Vec<(u64, u64)> {
        let path = self.folder.path().join("counts");
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        counts(&text)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs the server that tests/providers/run installs"]
fn a_server_that_nobody_here_wrote_counts_the_same_in_both_formats() {
    let proxy = Proxy::start();
    let url = proxy.url();
    for (model, variable) in [("openai:curator", "OPENAI_API_KEY"), ("anthropic:curator", "ANTHROPIC_API_KEY")] {
        let (program, trace) = (Program::new(), tempfile::tempdir().unwrap());
        let arguments = ["compare", "met", "--runs", "2", "--format", "json", "--model", model, "--base-url", &url];
        // One that costs money leaves out serial unless it is named.
        let more = ["--modes", "serial,loop,code", "--trace", trace.path().to_str().unwrap()];
        let outcome = ask(&program, &[&arguments[..], &more].concat(), &[(variable, PROXY_KEY)]);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{model}: {outcome:#?}"));
        let mut runs: Vec<&Value> = report["runs"].as_array().unwrap().iter().collect();
        // In the order in which they were made.
        runs.sort_by_key(|run| run["started"].as_str().unwrap());
        assert_eq!(runs.len(), 6, "{model}");
        for run in &runs {
            assert_eq!((&run["stop"], &run["estimated"]), (&json!("end_turn"), &json!(false)), "{model}: {run:#}");
            assert_eq!(run["verify"]["ok"], run["mode"] == "code", "{model}: {run:#}");
        }
        let turns = runs.iter().flat_map(|run| run["per_turn"].as_array().unwrap());
        let told: Vec<(u64, u64)> = turns
            .map(|turn| (turn["tokens_read"].as_u64().unwrap(), turn["output_tokens"].as_u64().unwrap()))
            .collect();
        assert_eq!(told, proxy.take_counts(), "{model}");
        for folder in [program.results(), trace.path()] as [&Path; 2] {
            assert_eq!(holding(folder, PROXY_KEY.as_bytes()), Vec::<String>::new(), "{model}");
        }
        assert!(!outcome.stderr.contains(PROXY_KEY) && !outcome.stdout.contains(PROXY_KEY), "{model}");
    }
    let refused = ask(
        &Program::new(),
        &["run", "met", "--model", "openai:absent", "--base-url", &url],
        &[("OPENAI_API_KEY", PROXY_KEY)],
    );
    assert_eq!(refused.code, 5, "{refused:#?}");
    let wrong = ask(
        &Program::new(),
        &["run", "met", "--model", "openai:curator", "--base-url", &url],
        &[("OPENAI_API_KEY", "sk-of-nobody-0123456789")],
    );
    assert!(wrong.code == 5 && !wrong.stderr.contains("sk-of-nobody"), "{wrong:#?}");
}
