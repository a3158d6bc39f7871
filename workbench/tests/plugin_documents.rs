//! Documents that the host gave a call, and what comes of them: one that is handed on does not travel back, and it is the
//! right one whatever the tool does; a plugin that says wrongly that it hands one on loses its call.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/patience.rs"]
mod patience;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use faulty::{Faulty, call_with, number};
use plugin_api::ToolError;
use plugin_api::wire::{HostReply, HostRequest};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use workbench::plugin::{CallOutcome, HostServices};

const LONG: u64 = 60;

/// Has a document for every path but `missing`, in spacing of its own. It never answers `held`, and `late` only once it has
/// answered `early`.
struct Shelf {
    documents: Mutex<HashMap<String, Bytes>>,
    early: Semaphore,
}

impl Shelf {
    fn new() -> Arc<Self> {
        Arc::new(Self { documents: Mutex::default(), early: Semaphore::new(0) })
    }

    /// The document of a path: the same memory each time.
    fn document(&self, path: &str) -> Bytes {
        let mut documents = self.documents.lock().unwrap();
        let made = || format!("{{ \"path\":\n\"{path}\",   \"text\": \"{}\" }}", "x".repeat(300_000)).into();
        documents.entry(path.to_owned()).or_insert_with(made).clone()
    }
}

#[async_trait]
impl HostServices for Shelf {
    async fn request(&self, _call: u64, request: HostRequest, _body: Bytes) -> (HostReply, Bytes) {
        let HostRequest::GetJson { path, .. } = request else { panic!("{request:?}") };
        match path.as_str() {
            "missing" => return (HostReply::Error(ToolError::new("there is none")), Bytes::new()),
            "held" => return std::future::pending().await,
            "late" => self.early.acquire().await.unwrap().forget(),
            "early" => self.early.add_permits(1),
            _ => {}
        }
        (HostReply::Json, self.document(&path))
    }

    fn call_ended(&self, _call: u64) {}
}

/// Whether an answer is the host's own document, or has come back from the plugin.
#[derive(Debug, PartialEq)]
enum Way {
    HandedOn,
    SentBack,
}

fn answer(outcome: CallOutcome) -> Bytes {
    match outcome {
        CallOutcome::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// The way of an answer that must be this document.
fn way(answer: &Bytes, document: &Bytes) -> Way {
    assert!(answer == document, "another document: {answer:?}");
    if answer.as_ptr() == document.as_ptr() { Way::HandedOn } else { Way::SentBack }
}

#[tokio::test]
async fn the_document_that_a_tool_returns_arrives() {
    let faulty = Faulty::built().await;
    let shelf = Shelf::new();
    let client = faulty.client(LONG, &shelf).await;
    for (paths, index, expected) in [
        (&["a"][..], 0, Way::HandedOn),
        (&["a", "b"], 1, Way::HandedOn),
        (&["a", "b"], 0, Way::SentBack),
        (&["a", "a"], 0, Way::SentBack),
        (&["missing", "b"], 1, Way::HandedOn),
        // The last that was asked for is none, so which is the last that was given is not looked into.
        (&["a", "missing"], 0, Way::SentBack),
    ] {
        let arguments = json!({"paths": paths, "index": index}).to_string();
        let answer = answer(call_with(&client, "hand_on", &arguments).await);
        assert_eq!(way(&answer, &shelf.document(paths[index])), expected, "{arguments}");
    }
    let refused = call_with(&client, "hand_on", r#"{"paths": ["a", "missing"], "index": 1}"#).await;
    assert_eq!(refused, CallOutcome::ToolError(ToolError::new("there is none")));

    for (path, before, expected) in [("a", "a", Way::HandedOn), ("b", "a", Way::SentBack), ("b", "b", Way::SentBack)] {
        let answer = answer(call_with(&client, "hand_on_the_one_before", &json!({"path": path}).to_string()).await);
        assert_eq!(way(&answer, &shelf.document(before)), expected, "kept from the call before: {path}");
    }
}

/// Which thread asks first, and so which document counts as the last, is open; which one arrives is not.
#[tokio::test]
async fn of_documents_asked_for_at_once_the_right_one_arrives() {
    let faulty = Faulty::built().await;
    let shelf = Shelf::new();
    let client = faulty.client(LONG, &shelf).await;
    let paths = ["late", "a", "early", "b"];
    for _ in 0..10 {
        for (index, path) in paths.iter().enumerate() {
            let arguments = json!({"paths": paths, "index": index, "at_once": true}).to_string();
            let answer = answer(call_with(&client, "hand_on", &arguments).await);
            way(&answer, &shelf.document(path));
        }
    }
}

/// Several calls at once, each with documents of its own under the same numbers.
#[tokio::test]
async fn calls_do_not_mix_their_documents() {
    let faulty = Faulty::built().await;
    let shelf = Shelf::new();
    let client = faulty.client(LONG, &shelf).await;
    let names: Vec<String> = (0..8).map(|number| format!("of call {number}")).collect();
    let calls = names.iter().map(|name| {
        let arguments = json!({"paths": ["before", name], "index": 1}).to_string();
        let (client, shelf) = (&client, &shelf);
        async move { way(&answer(call_with(client, "hand_on", &arguments).await), &shelf.document(name)) }
    });
    for way in futures::future::join_all(calls).await {
        assert_eq!(way, Way::HandedOn);
    }
}

#[tokio::test]
async fn a_document_that_a_tool_changed_arrives_changed() {
    let faulty = Faulty::built().await;
    let shelf = Shelf::new();
    let client = faulty.client(LONG, &shelf).await;
    let changed = answer(call_with(&client, "change", r#"{"path": "a"}"#).await);
    let mut expected: Value = serde_json::from_slice(&shelf.document("a")).unwrap();
    expected["changed"] = "yes".into();
    assert_eq!(serde_json::from_slice::<Value>(&changed).unwrap(), expected);
}

/// A request for a document, with a number or without.
fn get(path: &str, number: Option<u64>) -> String {
    let request = HostRequest::GetJson { path: path.to_owned(), query: vec![], document: number };
    format!("{}\n", serde_json::to_string(&request).unwrap())
}

/// What a plugin asks for, path and number, which document it then says it hands on, and what comes of it: the document of
/// a path, or the end of a sentence.
type Claim = (&'static [(&'static str, Option<u64>)], u64, Result<&'static str, &'static str>);

const CLAIMS: &[Claim] = &[
    (&[("a", Some(1))], 1, Ok("a")),
    (&[], 1, Err("it was given none")),
    (&[("a", None)], 1, Err("it was given none")),
    (&[("missing", Some(1))], 1, Err("it was given none")),
    (&[("a", Some(1)), ("b", Some(2))], 2, Ok("b")),
    (&[("a", Some(1)), ("b", Some(2))], 1, Err("document 2 is the last one it was given")),
    (&[("a", Some(1)), ("b", Some(2))], 3, Err("document 2 is the last one it was given")),
    (&[("a", Some(1)), ("missing", Some(2))], 1, Ok("a")),
    (&[("a", Some(1)), ("b", None)], 1, Ok("a")),
    (&[("a", Some(7)), ("b", Some(3))], 3, Err("document 7 is the last one it was given")),
    (&[("a", Some(u64::MAX))], u64::MAX, Ok("a")),
];

/// The plugin, in C, writes over what it was lent before it answers: nobody looks at that.
#[tokio::test]
async fn a_wrong_claim_costs_one_call() {
    let faulty = Faulty::compiled(&[]);
    let shelf = Shelf::new();
    let client = faulty.client(LONG, &shelf).await;
    let process = number(&client, "process").await;
    for (requests, claimed, expected) in CLAIMS {
        let asked: String = requests.iter().map(|(path, number)| get(path, *number)).collect();
        let text = format!("{asked}{{\"unchanged\":{{\"document\":{claimed}}}}}\n");
        let outcome = call_with(&client, "claim", &text).await;
        match expected {
            Ok(path) => assert_eq!(way(&answer(outcome), &shelf.document(path)), Way::HandedOn, "{text}"),
            Err(reason) => assert_eq!(outcome, refused(*claimed, reason), "{text}"),
        }
        assert_eq!(number(&client, "process").await, process, "the same worker after {text}");
    }
}

#[tokio::test]
async fn a_claim_while_a_request_is_open_is_refused() {
    let faulty = Faulty::compiled(&[]);
    let client = faulty.client(LONG, &Shelf::new()).await;
    let (held, asked) = (get("held", Some(2)), get("a", Some(1)));
    // The first call of a new client, so its number is 3.
    let frame = format!("{{\"kind\":\"request\",\"id\":77,\"call\":3,\"len\":{}}}\n{held}", held.len());
    let outcome = call_with(&client, "claim", &format!("{frame}{asked}{{\"unchanged\":{{\"document\":1}}}}\n")).await;
    assert_eq!(outcome, refused(1, "one of its requests is still open"));
    assert_eq!(number(&client, "answer").await, 1);
}

fn refused(document: u64, reason: &str) -> CallOutcome {
    CallOutcome::Crashed(format!("answered that it hands on document {document} unchanged, but {reason}"))
}
