//! Scripts as test cases: files whose first lines, `# key: value`, set limits and say what must come of them.
#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plugin_api::wire::ToolSpec;
use regex::Regex;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::sandbox::{Bridge, SCRIPT_FILE, Sandbox, Script, ScriptLimits, ScriptOutcome};

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
    sandbox: &dyn Sandbox,
    source: &str,
    tools: &[ToolSpec],
    limits: ScriptLimits,
    bridge: &dyn Bridge,
) -> ScriptOutcome {
    let script = Script { source, file: SCRIPT_FILE, tools, domain: "standin", announce_waiting: false, limits };
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

    /// What stands beside it in a file of the same name, or nothing. A sandbox that prints otherwise has a file of its
    /// own: `NAME.docker.out`.
    pub(crate) fn beside(&self, sandbox: &dyn Sandbox, extension: &str) -> String {
        let own = self.file.with_extension(format!("{}.{extension}", sandbox.name()));
        let file = if own.exists() { own } else { self.file.with_extension(extension) };
        fs::read_to_string(file).unwrap_or_default()
    }

    /// Whether it is for this sandbox: a line `# sandbox: NAME` at its top says that it is for no other.
    pub(crate) fn is_for(&self, sandbox: &dyn Sandbox) -> bool {
        self.setting("sandbox").is_none_or(|name| name == sandbox.name())
    }

    /// How its outcome in a sandbox differs from what its files say.
    pub(crate) async fn differences(
        &self,
        sandbox: &dyn Sandbox,
        tools: &[ToolSpec],
        bridge: &dyn Bridge,
    ) -> Vec<String> {
        let outcome = run(sandbox, &self.source, tools, self.limits(LIMITS), bridge).await;
        let (wanted, got) = (self.setting("end").unwrap_or("Exit(0)"), format!("{:?}", outcome.end));
        // ` | ` stands between ends that are right alike.
        let wanted = wanted.split(" | ").find(|end| *end == got).unwrap_or(wanted);
        let mut found = vec![("end", wanted.to_owned(), got)];
        if self.setting("output") != Some("any") {
            found.push(("stdout", self.beside(sandbox, "out"), outcome.stdout.text));
            found.push(("stderr", self.beside(sandbox, "err"), outcome.stderr.text));
        }
        found.retain(|(_, expected, got)| as_all_versions_say(expected) != as_all_versions_say(got));
        let name = self.name();
        found
            .into_iter()
            .map(|(what, expected, got)| format!("{name}: {what}\n--- expected\n{expected}\n--- got\n{got}"))
            .collect()
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

/// Without what only some versions of Python say.
fn as_all_versions_say(text: &str) -> String {
    let only_some = Regex::new(r"\. Did you mean: '\w+'\?|(?m: on line \d+$)|: nan").unwrap();
    only_some.replace_all(text, "").into_owned()
}
