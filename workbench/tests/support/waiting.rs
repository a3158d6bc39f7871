//! A domain over the plugin `fixtures/waiting.c`, whose model is the scripts of a test, and runs of it by the real program.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use workbench::results::format::{CallRecord, RunRecord};
use workbench::results::store::{read_ledger, read_run};

/// A domain `waiting` in a folder of its own, and its results beside it.
pub(crate) struct Waiting(TempDir);

/// A run as its folder tells it.
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    pub(crate) ledger: Vec<CallRecord>,
    pub(crate) folder: PathBuf,
    /// What was printed beside the record.
    pub(crate) stderr: String,
}

impl Waiting {
    /// The domain, with further lines for its manifest. Its plugin is compiled by the C compiler the README asks for.
    pub(crate) fn new(manifest: &str) -> Self {
        let waiting = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(waiting.domain().join("rehearsal/code")).unwrap();
        let head = "[domain]\nname = 'waiting'\ntitle = 'Waiting'\nlibrary = 'libwaiting.so'\n\
                    [task]\npersona = 'You wait.'\nprompt = 'Wait.'\n";
        fs::write(waiting.domain().join("domain.toml"), format!("{head}{manifest}")).unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O0", "-I"]).arg(here.join("../plugin-api/include"));
        compiler.arg("-o").arg(waiting.domain().join("libwaiting.so")).arg(here.join("tests/fixtures/waiting.c"));
        let output = compiler.output().unwrap_or_else(|error| panic!("the C compiler `cc` does not run: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        waiting
    }

    pub(crate) fn domain(&self) -> PathBuf {
        self.0.path().join("waiting")
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.0.path().join("results")
    }

    /// What the rehearsed model does: its policy in `serial` and `loop`, its scripts in `code`.
    pub(crate) fn plays(&self, scripts: &[&str]) -> &Self {
        let folder = self.domain().join("rehearsal");
        fs::write(folder.join("loop.py"), scripts[0]).unwrap();
        for (number, script) in (1..).zip(scripts) {
            fs::write(folder.join(format!("code/{number}.py")), script).unwrap();
        }
        self
    }

    /// `workbench run` in this mode.
    pub(crate) fn command(&self, mode: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.arg("run").arg(self.domain()).args(["--mode", mode, "--format", "json"]);
        command.arg("--results").arg(self.results()).args(more).env_remove("WORKBENCH_ROUTES");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Makes a run to its end.
    pub(crate) fn run(&self, mode: &str, more: &[&str]) -> Run {
        let output = self.command(mode, more).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let record: RunRecord =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        let folder = self.results().join("waiting").join(&record.run);
        Run { ledger: read_ledger(&folder).unwrap(), record, folder, stderr }
    }

    /// The only run there is, as far as it has come.
    pub(crate) fn only_run(&self) -> Option<Run> {
        let folder = fs::read_dir(self.results().join("waiting")).ok()?.next()?.unwrap().path();
        let record = read_run(&folder).ok()?;
        Some(Run { ledger: read_ledger(&folder).unwrap_or_default(), record, folder, stderr: String::new() })
    }
}

impl Run {
    /// What a file of the run's folder holds.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Every line of the ledger in a few words, sorted: what ended first is chance.
    pub(crate) fn calls(&self) -> Vec<String> {
        let in_words = |call: &CallRecord| {
            let end = serde_json::to_value(call.outcome).unwrap();
            format!("{} {}", call.tool, end.as_str().unwrap())
        };
        let mut calls: Vec<String> = self.ledger.iter().map(in_words).collect();
        calls.sort();
        calls
    }
}
