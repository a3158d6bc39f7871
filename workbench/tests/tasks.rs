//! Scripts as models write them, through the real program: `workbench script` over the stand-in tools.
//!
//! A task is a file: `tests/tasks/NAME.py`, with what CPython prints for it over the same tools in `NAME.out`,
//! and on standard error in `NAME.err` (missing: not compared).
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/program.rs"]
mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use program::{Program, workspace};

const STANDIN: &str = "workbench/tests/domains/standin";

/// How many scripts run at once.
const TOGETHER: usize = 2;

/// Files of `folder` that end in `.py`.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "py")).collect()
}

/// How the script's end and streams differ from what its files say; `None`: they do not.
fn difference(program: &Program, script: &Path) -> Option<String> {
    let outcome = program.run(&["script", STANDIN, script.to_str().unwrap()]);
    let stdout = fs::read_to_string(script.with_extension("out")).unwrap();
    let stderr = fs::read_to_string(script.with_extension("err")).ok();
    let as_expected =
        outcome.code == 0 && outcome.stdout == stdout && stderr.is_none_or(|stderr| outcome.stderr == stderr);
    (!as_expected).then(|| {
        format!("{}: exit {}\n{}--- standard error\n{}", script.display(), outcome.code, outcome.stdout, outcome.stderr)
    })
}

fn differences(scripts: Vec<PathBuf>) -> Vec<String> {
    let program = Program::new();
    // Builds the plugin once, before several scripts want it.
    assert_eq!(program.run(&["tools", STANDIN]).code, 0);
    let (queue, found) = (Mutex::new(scripts), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some(script) = { queue.lock().unwrap().pop() } {
                    found.lock().unwrap().extend(difference(&program, &script));
                }
            });
        }
    });
    found.into_inner().unwrap()
}

#[test]
fn tasks_print_what_cpython_prints() {
    let tasks = scripts(&workspace().join("workbench/tests/tasks"));
    assert!(tasks.len() >= 12, "the tasks are gone");
    let differences = differences(tasks);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// More of them lie beside the workspace of those who build it.
#[test]
fn tasks_beside_the_workspace_print_what_cpython_prints() {
    let folder = workspace().join("../shared/tools/scripts/tasks");
    if !folder.is_dir() {
        eprintln!("skipped: {} is not here", folder.display());
        return;
    }
    let differences = differences(scripts(&folder));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
