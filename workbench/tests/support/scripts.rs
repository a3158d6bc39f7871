//! Scripts as test cases: files whose first lines, `# key: value`, set limits and say what must come of them.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plugin_api::wire::ToolSpec;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::sandbox::{Bridge, Sandbox, Script, ScriptLimits, ScriptOutcome};

/// What a script may use that says nothing else.
pub(crate) const LIMITS: ScriptLimits =
    ScriptLimits { time: Duration::from_secs(60), memory: 256 * 1024 * 1024, output_bytes: 64 * 1024 };

/// A sandbox of the built program.
pub(crate) fn sandbox() -> Embedded {
    sandbox_of(Path::new(env!("CARGO_BIN_EXE_workbench")))
}

/// A sandbox whose workers are this program.
pub(crate) fn sandbox_of(program: &Path) -> Embedded {
    Embedded::new(EmbeddedSettings { program: Some(program.to_owned()) })
}

/// Runs `source` to its end.
pub(crate) async fn run(
    sandbox: &Embedded,
    source: &str,
    tools: &[ToolSpec],
    limits: ScriptLimits,
    bridge: &dyn Bridge,
) -> ScriptOutcome {
    let script = Script { source, tools, domain: "standin", announce_waiting: false, limits };
    sandbox.run(&script, bridge).await.unwrap()
}

/// One file, or one of the many that stand in it: with `# cases: N` at its top it is run N times, and its line
/// `CASE = 0` says another number each time. One that ends the worker leaves the others to be tried.
pub(crate) struct Case {
    pub(crate) file: PathBuf,
    /// Which of several.
    pub(crate) which: Option<u64>,
    pub(crate) source: String,
}

impl Case {
    /// The files of `folder` that end in `.py`, sorted.
    pub(crate) fn all(folder: &Path) -> Vec<Self> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
        files.sort();
        let first = |file: PathBuf| Self { source: fs::read_to_string(&file).unwrap(), file, which: None };
        files.into_iter().flat_map(|file| first(file).each()).collect()
    }

    fn each(self) -> Vec<Self> {
        let Some(cases) = self.number("cases") else { return vec![self] };
        assert!(self.source.contains("\nCASE = 0\n"), "{} has no line `CASE = 0`", self.name());
        let source = |number| self.source.replacen("\nCASE = 0\n", &format!("\nCASE = {number}\n"), 1);
        (0..cases).map(|number| Self { file: self.file.clone(), which: Some(number), source: source(number) }).collect()
    }

    pub(crate) fn name(&self) -> String {
        let name = self.file.file_stem().unwrap().display();
        self.which.map_or_else(|| name.to_string(), |number| format!("{name}, case {number}"))
    }

    /// What stands beside it in a file of the same name, or nothing.
    pub(crate) fn beside(&self, extension: &str) -> String {
        fs::read_to_string(self.file.with_extension(extension)).unwrap_or_default()
    }

    /// The value of a line `# key: value` at its top.
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        let header = self.source.lines().take_while(|line| line.starts_with("# "));
        header.filter_map(|line| line[2..].split_once(": ")).find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.setting(key).map(|value| value.parse().expect(key))
    }

    /// `limits`, as far as its `seconds` and `memory_mb` say nothing else.
    pub(crate) fn limits(&self, mut limits: ScriptLimits) -> ScriptLimits {
        limits.time = self.number("seconds").map_or(limits.time, Duration::from_secs);
        limits.memory = self.number("memory_mb").map_or(limits.memory, |megabytes| megabytes * 1024 * 1024);
        limits
    }

    /// The tool calls it may make.
    pub(crate) fn calls(&self) -> usize {
        self.number("calls").map_or(10_000, |calls| calls.try_into().unwrap())
    }
}
