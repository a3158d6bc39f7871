//! A model that curates the exhibit of the bundled domain, as turns of data: what it asks for, in each mode.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::messages_api::{MessagesApi, Script};
use crate::program::{Outcome, Program, finish, workspace};

/// Twelve pieces that meet every requirement.
pub(crate) const PIECES: [u64; 12] =
    [9001074, 9000262, 9000983, 9000857, 9000808, 9000626, 9000542, 9000003, 9000472, 9001039, 9000087, 9000395];

/// A call of a tool.
pub(crate) fn call(name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "name": name, "input": input, "caller": { "type": "direct" } })
}

/// Words.
pub(crate) fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

/// A thought, whose signature is written in a way of its own.
pub(crate) fn thought() -> Value {
    json!({ "type": "thinking", "thinking": "", "signature": "RXhhY3Rsesig=" })
}

/// A turn of these blocks.
pub(crate) fn turn(content: &[Value]) -> Value {
    json!({ "content": content })
}

/// The whole task, and thoughts before every turn where `thinking`.
pub(crate) fn exhibit(thinking: bool) -> Script {
    let each = |tool: &str| PIECES.map(|id| call(tool, json!({ "object_id": id }))).to_vec();
    let steps = [
        vec![call("list_departments", json!({})), call("search_collection", json!({ "query": "cat" }))],
        each("get_object"),
        each("download_image"),
        vec![
            call("make_contact_sheet", json!({ "name": "contact_sheet", "object_ids": PIECES })),
            call("build_gallery", json!({ "name": "exhibit", "title": "Cats in the Met", "object_ids": PIECES })),
        ],
    ];
    let script = fs::read_to_string(workspace().join("domains/met/rehearsal/code/2.py")).unwrap();
    let broken = "from tools import *\nprint(get_object(9000003)['titel'])\n";
    let scripts = [broken, &script].map(|code| call("run_python", json!({ "code": code })));
    let whole = |turns: Vec<Vec<Value>>| -> Vec<Value> {
        let before = if thinking { vec![thought()] } else { Vec::new() };
        let turns = turns.into_iter().chain([vec![text("The exhibit is ready.")]]);
        turns.map(|content| turn(&[before.clone(), vec![text("I go on.")], content].concat())).collect()
    };
    Script {
        serial: whole(steps.concat().into_iter().map(|call| vec![call]).collect()),
        parallel: whole(steps.to_vec()),
        code: whole(scripts.map(|call| vec![call]).to_vec()),
    }
}

/// The model of the strict API on the command line.
pub(crate) const MODEL: [&str; 2] = ["--model", "anthropic:claude-haiku-5-5"];

/// A domain whose tools answer at once and whose artifacts nobody judges.
pub(crate) const STANDIN: &str = "workbench/tests/domains/standin";

/// A run in this domain by the model of the strict API: what was printed, and its record where there is one.
pub(crate) fn standin_run(program: &Program, api: &MessagesApi, more: &[&str]) -> (Outcome, Value) {
    let arguments = [&["run", STANDIN, "--format", "json"], &MODEL[..], more].concat();
    let outcome = outcome(program, api, &arguments);
    let run = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    (outcome, run)
}

/// `workbench …` in the workspace, with this API and its key.
pub(crate) fn command(program: &Program, api: &MessagesApi, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", program.results());
    for key in workbench::env::KEYS {
        command.env_remove(key);
    }
    api.serves(command.env_remove("WORKBENCH_ROUTES"));
    command
}

/// The same to its end.
pub(crate) fn outcome(program: &Program, api: &MessagesApi, arguments: &[&str]) -> Outcome {
    finish(&mut command(program, api, arguments), "")
}
