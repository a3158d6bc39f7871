//! The real program with little memory, and runs as others hand them in.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::program::{Outcome, finish, workspace};

/// Kilobytes of memory the program may allocate: it needs less whatever it reads, and a file read or decoded without a
/// bound needs more.
const MEMORY: &str = "1048576";

/// A results folder.
pub(crate) struct Results(TempDir);

impl Results {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Makes the folder of a run of the domain `case`, with this evidence and one rule, and returns it.
    pub(crate) fn run(&self, name: &str, evidence: &str, check: &str) -> PathBuf {
        let folder = self.0.path().join("case").join(name);
        fs::create_dir_all(folder.join("out")).unwrap();
        let manifest = format!(
            "[domain]\nname = \"case\"\ntitle = \"Case\"\nplugin = \"case\"\n\
             [api]\nbase = \"https://api.example\"\nhosts = [\"api.example\"]\n\
             [evidence]\n{evidence}\n[[verify]]\nname = \"rule\"\ncheck = '''{check}'''\n"
        );
        fs::write(folder.join("domain.toml"), manifest).unwrap();
        let record = json!({
            "format": "workbench/run/v1", "run": name, "domain": "case", "mode": "loop", "model": "rehearsal",
            "sandbox": null, "source": "cassette", "profile": "debug", "tag": null, "started": "2026-01-01T00:00:00Z",
            "seconds": 1.0, "stop": "end_turn", "model_turns": 0, "tool_calls": 0, "nested_calls": 0, "scripts_run": 0,
            "retries": 0, "tokens_read": 0, "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0,
            "cache_write_tokens": 0, "estimated": true, "per_turn": [], "cost_usd": null, "final_text": "",
            "verify": null,
        });
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
        fs::write(folder.join("ledger.jsonl"), "").unwrap();
        fs::write(folder.join("transcript.jsonl"), "").unwrap();
        fs::write(folder.join("evidence.json"), r#"{"format": "workbench/evidence/v1", "answers": {}}"#).unwrap();
        folder
    }

    /// Runs the program on this folder; `around` is a program, with arguments, that runs it in turn.
    pub(crate) fn workbench(&self, around: &[&str], arguments: &[&str]) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -d \"$0\" && exec \"$@\"", MEMORY]).args(around);
        command.arg(env!("CARGO_BIN_EXE_workbench")).args(arguments);
        command.current_dir(workspace()).env("WORKBENCH_RESULTS", self.0.path()).env_remove("WORKBENCH_ROUTES");
        finish(&mut command, "")
    }
}

/// A file of this length that takes no room.
pub(crate) fn sparse(path: &Path, megabytes: u64) {
    fs::File::create(path).unwrap().set_len(megabytes << 20).unwrap();
}

pub(crate) fn pipe(path: &Path) {
    let _absent = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Whether this test may do what only root may.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
