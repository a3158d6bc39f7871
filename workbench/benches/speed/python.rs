//! Whole processes: a run of the workbench, and a plain Python program that plays the same rehearsal.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rounds::alternate;
use crate::stage::{Stage, program, workspace};
use crate::table::Table;

const PLAIN: &str = "docs/bench/plain.py";

pub(crate) fn measure(stage: &Stage, table: &mut Table) {
    let python = |mode: &str, run: &Path| {
        let mut command = Command::new("python3");
        command.arg(PLAIN).arg(mode).arg(&stage.domain.folder).arg(run).current_dir(workspace());
        command
    };
    for mode in ["loop", "code"] {
        let results = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            (run(&mut workbench(mode, results.path())).0, run(&mut python(mode, &results.path().join("0"))).0);
        for figure in ["model_turns", "tool_calls", "nested_calls"] {
            let of = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).unwrap()[figure].clone();
            assert_eq!(of(&ours), of(&theirs), "{mode}: {figure} differ: not the same work");
        }
        let mut number = 0;
        let pair = alternate(
            11,
            || run(&mut workbench(mode, results.path())).1,
            || {
                number += 1;
                run(&mut python(mode, &results.path().join(number.to_string()))).1
            },
        );
        table.against(&format!("`workbench run … --mode {mode}`, whole process ÷ a plain Python program"), &pair, None);
    }
}

fn workbench(mode: &str, results: &Path) -> Command {
    let mut command = Command::new(program());
    command.args(["run", "met", "--mode", mode, "--format", "json", "--results"]).arg(results);
    command.current_dir(workspace());
    command
}

/// Runs a process to its end; 1 is a run that was judged and fell short.
fn run(command: &mut Command) -> (Output, Duration) {
    let begun = Instant::now();
    let output = command.output().unwrap();
    let took = begun.elapsed();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    (output, took)
}
