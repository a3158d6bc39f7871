//! The real program, with a results folder of its own.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program in the workspace, and where its results go.
pub(crate) struct Program {
    results: TempDir,
}

/// What a command printed and ended with.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { results: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn results(&self) -> &Path {
        self.results.path()
    }

    /// Runs `workbench` with these arguments in the workspace.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, "")
    }

    /// As [`Program::run`], with something on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(arguments).current_dir(workspace()).env("WORKBENCH_RESULTS", self.results());
        command.env_remove("WORKBENCH_ROUTES");
        finish(&mut command, input)
    }

    /// As [`Program::run`], for a command that must succeed and prints JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command, input: &str) -> Outcome {
    use std::io::Write as _;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that reads no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Outcome::of(child.wait_with_output().unwrap())
}

impl Outcome {
    pub(crate) fn of(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        Self {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}

/// The workspace's root.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
