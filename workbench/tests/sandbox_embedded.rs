//! The embedded sandbox at its real boundary: a child process of the built binary runs each script.
//!
//! A case is a file: `tests/sandbox/NAME.py`, with what it prints in `NAME.out` and `NAME.err`
//! (missing: nothing). Lines `# key: value` at its top set limits and say how it ends.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/standin.rs"]
mod standin;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use standin::StandIn;
use workbench::sandbox::embedded::{Embedded, EmbeddedSettings};
use workbench::sandbox::{Bridge, BridgeError, Sandbox, Script, ScriptEnd, ScriptLimits, ScriptOutcome};

const LIMITS: ScriptLimits =
    ScriptLimits { time: Duration::from_secs(60), memory: 256 * 1024 * 1024, output_bytes: 64 * 1024 };

fn sandbox() -> Embedded {
    Embedded::new(EmbeddedSettings { program: Some(env!("CARGO_BIN_EXE_workbench").into()) })
}

async fn run_on(sandbox: &Embedded, source: &str, limits: ScriptLimits, bridge: &dyn Bridge) -> ScriptOutcome {
    let tools = standin::specs();
    let script = Script { source, tools: &tools, domain: "standin", announce_waiting: false, limits };
    sandbox.run(&script, bridge).await.unwrap()
}

/// Files of `folder` that end in `.py`, sorted.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
    scripts.sort();
    scripts
}

fn beside(script: &Path, extension: &str) -> String {
    fs::read_to_string(script.with_extension(extension)).unwrap_or_default()
}

/// The value of a line `# key: value` at the top of a case.
fn setting<'a>(source: &'a str, key: &str) -> Option<&'a str> {
    let header = source.lines().take_while(|line| line.starts_with("# "));
    header.filter_map(|line| line[2..].split_once(": ")).find(|(name, _)| *name == key).map(|(_, value)| value)
}

fn number(source: &str, key: &str) -> Option<u64> {
    setting(source, key).map(|value| value.parse().expect(key))
}

/// How a case differs from what its files say.
async fn differences(script: &Path) -> Vec<String> {
    let source = fs::read_to_string(script).unwrap();
    let mut limits = LIMITS;
    limits.time = number(&source, "seconds").map_or(limits.time, Duration::from_secs);
    limits.memory = number(&source, "memory_mb").map_or(limits.memory, |megabytes| megabytes * 1024 * 1024);
    let bridge = StandIn::with_budget(number(&source, "calls").map_or(10_000, |calls| calls.try_into().unwrap()));
    let outcome = run_on(&sandbox(), &source, limits, &bridge).await;

    let mut found =
        vec![("end", setting(&source, "end").unwrap_or("Exit(0)").to_owned(), format!("{:?}", outcome.end))];
    if setting(&source, "output") != Some("any") {
        found.push(("stdout", beside(script, "out"), outcome.stdout.text));
        found.push(("stderr", beside(script, "err"), outcome.stderr.text));
    }
    let name = script.file_stem().unwrap().display();
    found.retain(|(_, expected, got)| expected != got);
    found
        .into_iter()
        .map(|(what, expected, got)| format!("{name}: {what}\n--- expected\n{expected}\n--- got\n{got}"))
        .collect()
}

#[tokio::test]
async fn every_case_ends_and_prints_as_its_files_say() {
    let cases = scripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox"));
    assert!(cases.len() > 20, "the cases are gone");
    let checks = futures::stream::iter(&cases).map(|case| differences(case)).buffer_unordered(2);
    let differences = checks.concat().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn a_domain_offers_its_tools_under_its_own_name() {
    let source = "
from dnd_encounter_tools import *
from dnd_encounter_tools.aio import noop as later
import tools, dnd_encounter_tools
print(noop is tools.noop, noop is dnd_encounter_tools.noop, noop(1), await later(2))
";
    let tools = standin::specs();
    let script = Script { source, tools: &tools, domain: "dnd-encounter", announce_waiting: false, limits: LIMITS };
    let outcome = sandbox().run(&script, &StandIn::with_budget(2)).await.unwrap();
    assert_eq!(outcome.stdout.text, "True True 1 2\n", "{}", outcome.stderr.text);
}

#[tokio::test]
async fn a_prepared_child_runs_one_script_and_the_next_gets_another() {
    let sandbox = sandbox();
    let bridge = StandIn::with_budget(10);
    sandbox.prepare().await;
    sandbox.prepare().await;
    for _ in 0..2 {
        let outcome = run_on(&sandbox, "import json\nprint('left' in dir(json))\njson.left = 1", LIMITS, &bridge).await;
        assert_eq!((outcome.end, outcome.stdout.text.as_str()), (ScriptEnd::Exit(0), "False\n"));
    }
}

#[tokio::test]
async fn the_end_of_a_long_output_is_kept_and_the_rest_counted() {
    let source = "for i in range(20000): print('line é', i)";
    let limits = ScriptLimits { output_bytes: 100, ..LIMITS };
    let outcome = run_on(&sandbox(), source, limits, &StandIn::with_budget(0)).await;
    assert!(outcome.stdout.text.ends_with("line é 19999\n"));
    assert!(outcome.stdout.text.len() <= 100);
    let printed: usize = (0..20000).map(|number| format!("line é {number}\n").len()).sum();
    assert_eq!(outcome.stdout.dropped + outcome.stdout.text.len() as u64, printed as u64);
}

/// Answers only when `waiting` was told, all pending calls at once, and remembers which they were.
#[derive(Default)]
struct Turns {
    pending: Mutex<Vec<(Bytes, tokio::sync::oneshot::Sender<()>)>>,
    turns: Mutex<Vec<Vec<String>>>,
}

#[async_trait]
impl Bridge for Turns {
    async fn call(&self, _tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.pending.lock().unwrap().push((arguments, answer));
        answered.await.unwrap();
        Ok("null".into())
    }

    async fn waiting(&self) {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap());
        let (calls, answers): (Vec<_>, Vec<_>) = pending.into_iter().unzip();
        let calls = calls.iter().map(|arguments| String::from_utf8_lossy(arguments).into_owned()).collect();
        self.turns.lock().unwrap().push(calls);
        // The last answer first: a turn does not depend on their order.
        answers.into_iter().rev().for_each(|answer| answer.send(()).unwrap());
    }
}

#[tokio::test]
async fn calls_that_wait_together_are_announced_together() {
    let source = "
from tools.aio import *
import tools, asyncio
async def chain(name):
    for step in range(2):
        await noop(f'{name}{step}')
await asyncio.gather(chain('a'), chain('b'), chain('c'))
tools.noop('sync')
await noop('last')
";
    let tools = standin::specs();
    let script = Script { source, tools: &tools, domain: "standin", announce_waiting: true, limits: LIMITS };
    let bridge = Turns::default();
    let outcome = sandbox().run(&script, &bridge).await.unwrap();
    assert_eq!(outcome.end, ScriptEnd::Exit(0), "{}", outcome.stderr.text);
    let turns = bridge.turns.into_inner().unwrap();
    let names = |turn: &Vec<String>| turn.join(" ").replace("{\"x\":\"", "").replace("\"}", "");
    let turns: Vec<String> = turns.iter().map(names).collect();
    assert_eq!(turns, ["a0 b0 c0", "a1 b1 c1", "sync", "last"]);
}

#[tokio::test]
async fn a_thousand_calls_are_under_way_at_once() {
    /// Answers when the thousandth call is there.
    struct Together(tokio::sync::Barrier);
    #[async_trait]
    impl Bridge for Together {
        async fn call(&self, _tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
            self.0.wait().await;
            Ok(arguments)
        }
    }
    let source = "
from tools.aio import *
import asyncio
answers = await asyncio.gather(*[noop(i) for i in range(1000)])
print(sum(answer['x'] for answer in answers))
";
    let outcome = run_on(&sandbox(), source, LIMITS, &Together(tokio::sync::Barrier::new(1000))).await;
    assert_eq!(outcome.stdout.text, "499500\n", "{}", outcome.stderr.text);
}

/// Lets a test know that a script is running, and never answers it.
#[derive(Default)]
struct Silence(tokio::sync::Notify);

#[async_trait]
impl Bridge for Silence {
    async fn call(&self, _tool: &str, _arguments: Bytes) -> Result<Bytes, BridgeError> {
        self.0.notify_one();
        std::future::pending().await
    }
}

/// A sandbox whose children have a program name of their own, which tells them from those of other tests.
#[cfg(target_os = "linux")]
struct Marked {
    sandbox: Embedded,
    program: PathBuf,
    _folder: tempfile::TempDir,
}

#[cfg(target_os = "linux")]
impl Marked {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("workbench");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_workbench"), &program).unwrap();
        let sandbox = Embedded::new(EmbeddedSettings { program: Some(program.clone()) });
        Self { sandbox, program, _folder: folder }
    }

    /// Folders in `/proc` of the children that are there.
    fn children(&self) -> Vec<PathBuf> {
        let name = self.program.as_os_str().as_encoded_bytes();
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        processes.filter(|path| fs::read(path.join("cmdline")).is_ok_and(|line| line.starts_with(name))).collect()
    }

    /// Starts a script, looks at its child while it waits for a tool, and drops the run.
    async fn while_it_waits<T>(&self, look: impl FnOnce(&Path) -> T) -> T {
        let bridge = Silence::default();
        // Outside of `select!`, which drops what it holds before it goes on.
        let mut run = std::pin::pin!(run_on(&self.sandbox, "from tools import *\nnoop(1)", LIMITS, &bridge));
        tokio::select! {
            outcome = &mut run => panic!("{outcome:?}"),
            () = bridge.0.notified() => {}
        }
        let children = self.children();
        assert_eq!(children.len(), 1, "{children:?}");
        look(&children[0])
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_dropped_run_leaves_no_child() {
    let marked = Marked::new();
    marked.while_it_waits(|_| ()).await;
    while !marked.children().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_script_runs_in_a_locked_child() {
    let read = |child: &Path| ["status", "limits"].map(|file| fs::read_to_string(child.join(file)).unwrap());
    let [status, limits] = Marked::new().while_it_waits(read).await;
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(status.contains(line), "{line} is not in\n{status}");
    }
    for (limit, most) in
        [("Max open files", "8"), ("Max file size", "0"), ("Max processes", "0"), ("Max core file size", "0")]
    {
        let line = limits.lines().find(|line| line.starts_with(limit)).unwrap();
        let values: Vec<&str> = line[limit.len()..].split_whitespace().take(2).collect();
        assert_eq!(values, [most, most], "{line}");
    }
}

#[tokio::test]
async fn the_hidden_subcommand_refuses_to_be_run_by_hand() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_workbench")).arg("__script-worker").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("started by the workbench itself"));
}
