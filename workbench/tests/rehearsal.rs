//! Rehearsal: scripts of a domain play the model, turn by turn, in a real sandbox.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use workbench::domain::Domain;
use workbench::model::rehearsal::{Rehearsal, RehearsalError};
use workbench::model::types::{
    Block, Callers, Message, Model, ModelError, ModelReply, ModelRequest, Role, StopReason, ToolDefinition,
};
use workbench::sandbox::Sandbox;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};

const MANIFEST: &str = r#"
[domain]
name = "trial"
title = "Trial"
plugin = "trial"

[task]
persona = "You try things."
prompt = "Try it."
"#;

fn domain(scripts: &[(&str, &str)]) -> (tempfile::TempDir, Domain) {
    domain_with("", scripts)
}

/// A domain whose manifest ends with `limits`.
fn domain_with(limits: &str, scripts: &[(&str, &str)]) -> (tempfile::TempDir, Domain) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("trial");
    fs::create_dir_all(folder.join("rehearsal/code")).unwrap();
    fs::write(folder.join("domain.toml"), format!("{MANIFEST}{limits}")).unwrap();
    for (file, source) in scripts {
        fs::write(folder.join("rehearsal").join(file), source).unwrap();
    }
    let domain = Domain::load(&folder).unwrap();
    (home, domain)
}

fn sandbox() -> Arc<dyn Sandbox> {
    let program = Some(PathBuf::from(env!("CARGO_BIN_EXE_workbench")));
    Arc::new(Embedded::new(EmbeddedSettings { program }))
}

/// The policy, under the limits of the manifest.
fn step_by_step(domain: &Domain) -> Result<Rehearsal, RehearsalError> {
    Rehearsal::step_by_step(domain, &domain.manifest.limits, sandbox())
}

fn tool(name: &str) -> ToolDefinition {
    let properties = json!({"number": {"type": "integer"}});
    let input_schema =
        json!({"type": "object", "properties": properties, "required": ["number"], "additionalProperties": false});
    ToolDefinition {
        name: name.to_owned(),
        description: "One of two.".to_owned(),
        input_schema,
        callers: Callers::Direct,
    }
}

/// A conversation with the rehearsed model, in which every call is answered by `answer`.
struct Talk {
    turns: Vec<ModelReply>,
    end: Result<String, ModelError>,
}

impl Talk {
    async fn hold(
        mut model: Rehearsal,
        parallel_calls: bool,
        answer: impl Fn(&str, &Value) -> Result<String, String>,
    ) -> Self {
        let tools = [tool("get_one"), tool("save_one")];
        let task = Block::Text { text: "Try it.".to_owned() };
        let mut messages = vec![Message { role: Role::User, content: vec![task] }];
        let mut turns = Vec::new();
        loop {
            let request = ModelRequest {
                system: "Try.",
                tools: &tools,
                messages: &messages,
                max_tokens: 4096,
                parallel_calls,
                until: None,
            };
            let reply = match model.reply(request).await {
                Ok(reply) => reply,
                Err(error) => return Self { turns, end: Err(error) },
            };
            turns.push(reply.clone());
            if reply.stop_reason == StopReason::EndTurn {
                let [Block::Text { text }] = reply.content.as_slice() else { panic!("{reply:?}") };
                return Self { turns, end: Ok(text.clone()) };
            }
            let results = reply.content.iter().map(|block| {
                let Block::ToolUse { id, name, input, .. } = block else { panic!("{block:?}") };
                let (content, is_error) = match answer(name, input) {
                    Ok(text) => (text, false),
                    Err(text) => (format!("ERROR: {text}"), true),
                };
                Block::ToolResult { tool_use_id: id.clone(), content, is_error }
            });
            let results = results.collect();
            messages.push(Message { role: Role::Assistant, content: reply.content });
            messages.push(Message { role: Role::User, content: results });
        }
    }

    /// What was asked for on each turn: `get_one(1) get_one(2)`.
    fn asked(&self) -> Vec<String> {
        let call = |block: &Block| match block {
            Block::ToolUse { name, input, .. } => format!("{name}({})", input["number"]),
            _ => String::new(),
        };
        self.turns.iter().map(|turn| turn.content.iter().map(call).collect::<Vec<_>>().join(" ")).collect()
    }
}

fn numbered(_tool: &str, input: &Value) -> Result<String, String> {
    Ok(json!({"doubled": input["number"].as_i64().unwrap() * 2}).to_string())
}

/// Each task asks for its second call as soon as its first one is answered.
const PIPELINES: &str = "
import asyncio
from tools.aio import *

async def chain(number):
    record = await get_one(number)
    await save_one(record['doubled'])
    return number

async def main():
    done = await asyncio.gather(*[chain(number) for number in range(1, 4)])
    print('done', done)

asyncio.run(main())
";

#[tokio::test]
async fn calls_that_wait_together_are_one_turn() {
    let (_home, domain) = domain(&[("loop.py", PIPELINES)]);
    for _ in 0..5 {
        let talk = Talk::hold(step_by_step(&domain).unwrap(), true, numbered).await;
        assert_eq!(
            talk.asked(),
            ["get_one(1) get_one(2) get_one(3)", "save_one(2) save_one(4) save_one(6)", ""],
            "equal runs have equal turns"
        );
        assert_eq!(talk.end.unwrap(), "done [1, 2, 3]");
    }
}

#[tokio::test]
async fn where_one_call_a_turn_is_allowed_the_same_policy_makes_one() {
    let (_home, domain) = domain(&[("loop.py", PIPELINES)]);
    let talk = Talk::hold(step_by_step(&domain).unwrap(), false, numbered).await;
    let singles = ["get_one(1)", "get_one(2)", "get_one(3)", "save_one(2)", "save_one(4)", "save_one(6)", ""];
    assert_eq!(talk.asked(), singles);
    assert_eq!(talk.end.unwrap(), "done [1, 2, 3]");
}

#[tokio::test]
async fn tokens_are_estimates_that_grow_with_the_conversation() {
    let (_home, domain) = domain(&[("loop.py", PIPELINES)]);
    let talk = Talk::hold(step_by_step(&domain).unwrap(), true, numbered).await;
    let read: Vec<u64> = talk.turns.iter().map(|turn| turn.usage.input_tokens).collect();
    assert!(read.is_sorted() && read[0] < read[2], "{read:?}");
    assert!(talk.turns.iter().all(|turn| turn.usage.estimated && turn.usage.output_tokens > 0));
}

#[tokio::test]
async fn results_reach_a_policy_as_data_texts_and_refusals() {
    let policy = "
from tools import *

print(get_one(1)['title'], type(get_one(2)).__name__, get_one(3))
try:
    get_one(4)
except ToolError as refusal:
    print('refused:', refusal)
";
    let (_home, domain) = domain(&[("loop.py", policy)]);
    let answer = |_: &str, input: &Value| match input["number"].as_i64().unwrap() {
        1 => Ok(r#"{"title": "Katze 🐈"}"#.to_owned()),
        2 => Ok("[1]".to_owned()),
        3 => Ok("plain text".to_owned()),
        _ => Err("no object 4".to_owned()),
    };
    let talk = Talk::hold(step_by_step(&domain).unwrap(), true, answer).await;
    assert_eq!(talk.end.unwrap(), "Katze 🐈 list plain text\nrefused: no object 4");
}

#[tokio::test]
async fn a_policy_that_fails_is_a_model_error_with_its_traceback() {
    let (_home, domain) = domain(&[("loop.py", "from tools import *\nget_one(1)['doubled']['no']\n")]);
    let talk = Talk::hold(step_by_step(&domain).unwrap(), true, numbered).await;
    let error = talk.end.unwrap_err().to_string();
    assert!(error.contains("EXIT CODE 1") && error.contains("line 2") && error.contains("TypeError"), "{error}");
    assert_eq!(talk.turns.len(), 1);
}

#[tokio::test]
async fn a_policy_that_neither_calls_nor_ends_is_given_up() {
    let policy = "from tools import *\nget_one(1)\nwhile True: pass\n";
    let (_home, domain) = domain_with("[limits]\nscript_seconds = 10\n", &[("loop.py", policy)]);
    let talk = Talk::hold(step_by_step(&domain).unwrap(), true, numbered).await;
    let error = talk.end.unwrap_err().to_string();
    assert!(error.contains("it neither called a tool nor ended within 10 s"), "{error}");
    assert_eq!(talk.turns.len(), 1);
}

#[tokio::test]
async fn scripts_are_handed_over_in_order_and_the_last_output_is_the_last_word() {
    let scripts = [("code/1.py", "print('first')"), ("code/2.py", "print('second')"), ("code/10.py", "never")];
    let (_home, domain) = domain(&scripts);
    let run = |_: &str, input: &Value| Ok(format!("ran {}\n", input["code"].as_str().unwrap()));
    let talk = Talk::hold(Rehearsal::scripts(&domain).unwrap(), true, run).await;
    assert_eq!(talk.turns.len(), 3);
    assert_eq!(talk.end.unwrap(), "ran print('second')");
}

#[test]
fn a_domain_without_rehearsal_names_the_file_to_write() {
    let (_home, domain) = domain(&[]);
    let policy = step_by_step(&domain).err().unwrap();
    assert!(matches!(policy, RehearsalError::Missing { .. }));
    assert!(policy.to_string().contains("rehearsal/loop.py"), "{policy}");
    let scripts = Rehearsal::scripts(&domain).err().unwrap();
    assert!(scripts.to_string().contains("rehearsal/code/1.py"), "{scripts}");
}
