//! Requests that are large or slow: they are answered, or refused, and nobody else waits for them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::serve::backend::ScriptedTurns;
use workbench::serve::{Limits, Listening, Setup};

use crate::patience::{PATIENCE, until};
use crate::refusals::is_listed;
use crate::served::{KEYS, Served, headers, question};

/// A request with this many tools that code may call; what it lacks is told after they were read.
fn many_tools(count: usize) -> Value {
    let tool = |number| {
        json!({ "name": format!("tool-{number}"), "input_schema": { "type": "object" },
                "allowed_callers": ["code_execution_20260120"] })
    };
    let mut asked = question();
    asked["tools"].as_array_mut().unwrap().extend((0..count).map(tool));
    asked["messages"] = json!([]);
    asked
}

/// A request with this many cells, whose results are in reverse; its last message is refused after they were paired.
fn many_cells(count: usize) -> Value {
    let cell = |number| json!({ "type": "server_tool_use", "id": format!("srvtoolu_{number}"), "name": "code_execution", "input": {} });
    let result = |number| json!({ "type": "code_execution_tool_result", "tool_use_id": format!("srvtoolu_{number}"), "content": {} });
    let blocks: Vec<Value> = (0..count).map(cell).chain((0..count).rev().map(result)).collect();
    let mut asked = question();
    asked["messages"] = json!([
        { "role": "user", "content": "Go on." },
        { "role": "assistant", "content": blocks },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_x", "content": "1" }] },
    ]);
    asked
}

/// Each would take minutes if parts of it were looked for one by one.
#[tokio::test]
async fn a_request_of_many_parts_is_read_in_one_pass() {
    let served = Served::start(&json!([]), &[]);
    for (asked, begins) in [
        (many_tools(20_000), "messages: at least one message is required"),
        (many_cells(60_000), "messages.2.content.0: unexpected `tool_use_id` found"),
    ] {
        let answer = served.post(&asked).await;
        assert!(answer.status == 400 && answer.message().starts_with(begins), "{answer:?}");
    }
}

/// A server of this process under limits that no option sets; it ends with the test.
async fn under(limits: Limits) -> SocketAddr {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("turns.json");
    std::fs::write(&file, "[]").unwrap();
    let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_workbench")));
    let setup = Setup {
        backend: Arc::new(ScriptedTurns::read(&file).unwrap()),
        sandbox: Arc::new(Embedded::new(EmbeddedSettings { program })),
        models: vec!["turns".to_owned()],
        tokens: vec![KEYS[0].to_owned()],
        limits,
        log: Box::new(|_| {}),
    };
    let listening = Listening::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), setup).await.unwrap();
    let address = listening.address().unwrap();
    tokio::spawn(listening.serve(std::future::pending()));
    address
}

/// A connection on which this was sent.
async fn sent(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// What comes until the connection is closed.
async fn heard(mut stream: TcpStream) -> String {
    let mut heard = String::new();
    let reading = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut heard));
    reading.await.expect("the connection is closed").unwrap();
    heard
}

/// The head of a request whose body has this length; the server says when it waits for that.
fn head(length: usize) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n",
        KEYS[0]
    )
}

#[tokio::test]
async fn a_request_that_does_not_come_in_time_is_given_up() {
    let soon = Duration::from_millis(100);
    let address = under(Limits { head: soon, ..Limits::default() }).await;
    for begun in ["", "POST /v1/mess", "GET /v1/models HTTP/1.1\r\nhost: x\r\n"] {
        assert_eq!(heard(sent(address, begun).await).await, "", "{begun}");
    }
    let address = under(Limits { body: soon, ..Limits::default() }).await;
    let answer = heard(sent(address, &(head(1000) + "{")).await).await;
    let text = "The request body was not whole after 0.1 s";
    assert!(answer.contains("HTTP/1.1 408 ") && answer.contains(text) && is_listed(408, text), "{answer}");
}

#[tokio::test]
async fn a_request_on_its_way_takes_nobodys_place() {
    let address = under(Limits { requests: 1, ..Limits::default() }).await;
    let asked = question().to_string();
    let mut slow = Vec::new();
    for _ in 0..3 {
        let mut stream = sent(address, &head(asked.len())).await;
        let mut told = vec![0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
        stream.read_exact(&mut told).await.unwrap();
        assert!(told.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&told));
        stream.write_all(b"{").await.unwrap();
        slow.push(stream);
    }
    for mut stream in slow.into_iter().rev() {
        stream.write_all(&asked.as_bytes()[1..]).await.unwrap();
        let answer = heard(stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test]
async fn requests_share_the_memory_there_is() {
    let served = Served::start(&json!([{ "code": ["while True: pass"] }]), &[]);
    // Some 250 MB each, of which there is room for four.
    let mut heavy = question();
    heavy["metadata"]["numbers"] = json!(vec![0; 1_940_000]);
    let mut going = tokio::task::JoinSet::new();
    for count in 1..=4 {
        going.spawn(served.sender(heavy.clone()));
        until("one more cell runs", || served.workers().len() == count).await;
    }
    let refused = served.post(&heavy).await;
    let text = "Overloaded: requests take as much memory as this server may have at once";
    assert!(refused.status == 529 && refused.message() == text && is_listed(529, text), "{refused:?}");
    // A small one is served, and a large one as soon as another is gone.
    let small = served.send("GET", "/v1/models", &headers(KEYS[0]), "").await.unwrap();
    assert_eq!(small.status, 200);
    going.abort_all();
    served.tells("the client went away").await;
    heavy["messages"] = json!([]);
    let mut again = served.post(&heavy).await;
    while again.status == 529 {
        again = served.post(&heavy).await;
    }
    assert_eq!(again.message(), "messages: at least one message is required");
}
