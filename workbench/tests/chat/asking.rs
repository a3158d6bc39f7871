//! The real program, asked to ask a model of a test's server.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use workbench::env;

use crate::program::{Outcome, Program, finish, workspace};

/// Runs `workbench` in the workspace, with these variables and no key of whoever runs the tests.
pub(crate) fn ask(program: &Program, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", program.results());
    for variable in env::KEYS.iter().chain(&["WORKBENCH_ROUTES", env::OPENAI_BASE_URL, env::ANTHROPIC_BASE_URL]) {
        command.env_remove(variable);
    }
    command.envs(variables.iter().copied());
    finish(&mut command, "")
}

/// As [`ask`], for a command that prints JSON whatever it ends with.
pub(crate) fn ask_json(program: &Program, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let outcome = ask(program, arguments, variables);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {outcome:#?}"))
}

/// The files below a folder that hold these bytes.
pub(crate) fn holding(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// What is said in a run, message by message.
pub(crate) fn transcript(program: &Program, run: &Value) -> Vec<Value> {
    let folder = program.results().join(run["domain"].as_str().unwrap()).join(run["run"].as_str().unwrap());
    workbench::results::store::read_transcript(&folder).unwrap().map(Result::unwrap).collect()
}
