//! The embedded sandbox at its real boundary: a child process of the built binary runs each script.
//!
//! A case is a file: `tests/sandbox/NAME.py`, with what it prints in `NAME.out` and `NAME.err`
//! (missing: nothing). Lines `# key: value` at its top set limits and say how it ends.
#![cfg(feature = "embedded")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(target_os = "linux")]
#[path = "support/left_behind.rs"]
mod left_behind;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/sessions.rs"]
mod sessions;
#[path = "support/standin.rs"]
mod standin;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
#[cfg(target_os = "linux")]
use left_behind::Marked;
use scripts::{Case, LIMITS, sandbox};
use standin::StandIn;
use workbench::sandbox::embedded::Embedded;
use workbench::sandbox::{
    Bridge, BridgeError, SCRIPT_FILE, Sandbox, Script, ScriptEnd, ScriptLimits, ScriptOutcome, ToolForm,
};

async fn run_on(sandbox: &Embedded, source: &str, limits: ScriptLimits, bridge: &dyn Bridge) -> ScriptOutcome {
    scripts::run(sandbox, source, &standin::specs(), limits, bridge).await
}

/// How a case differs from what its files say.
async fn differences(case: &Case) -> Vec<String> {
    case.differences(&sandbox(), &standin::specs(), &StandIn::with_budget(case.calls())).await
}

#[tokio::test]
async fn every_case_ends_and_prints_as_its_files_say() {
    let mut cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox"));
    cases.retain(|case| case.is_for(&sandbox()));
    assert!(cases.len() > 20, "the cases are gone");
    let checks = futures::stream::iter(&cases).map(differences).buffer_unordered(2);
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
    let script = Script {
        source,
        file: SCRIPT_FILE,
        tools: &tools,
        domain: "dnd-encounter",
        announce_waiting: false,
        form: ToolForm::Functions,
        limits: LIMITS,
    };
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
    let script = Script {
        source,
        file: SCRIPT_FILE,
        tools: &tools,
        domain: "standin",
        announce_waiting: true,
        form: ToolForm::Functions,
        limits: LIMITS,
    };
    let bridge = Turns::default();
    let outcome = sandbox().run(&script, &bridge).await.unwrap();
    assert_eq!(outcome.end, ScriptEnd::Exit(0), "{}", outcome.stderr.text);
    let turns = bridge.turns.into_inner().unwrap();
    let names = |turn: &Vec<String>| turn.join(" ").replace("{\"x\":\"", "").replace("\"}", "");
    let turns: Vec<String> = turns.iter().map(names).collect();
    assert_eq!(turns, ["a0 b0 c0", "a1 b1 c1", "sync", "last"]);
}

#[tokio::test]
async fn calls_are_made_many_at_once_and_never_all() {
    /// Answers when there are no more to come, and counts the most that waited together.
    #[derive(Default)]
    struct Together(Mutex<(usize, usize)>);
    #[async_trait]
    impl Bridge for Together {
        async fn call(&self, _tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
            let count = |change: isize| {
                let mut counts = self.0.lock().unwrap();
                counts.0 = counts.0.strict_add_signed(change);
                counts.1 = counts.1.max(counts.0);
            };
            count(1);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            count(-1);
            Ok(arguments)
        }
    }
    let source = "
from tools.aio import *
import asyncio
answers = await asyncio.gather(*[noop(i) for i in range(1000)])
print(sum(answer['x'] for answer in answers))
";
    let bridge = Together::default();
    let outcome = run_on(&sandbox(), source, LIMITS, &bridge).await;
    assert_eq!(outcome.stdout.text, "499500\n", "{}", outcome.stderr.text);
    let (left, most) = bridge.0.into_inner().unwrap();
    assert!(left == 0 && (2..=16).contains(&most), "{left} left, {most} at once");
}

#[tokio::test]
async fn scripts_of_a_session_find_the_names_of_those_before() {
    sessions::names_are_kept(std::sync::Arc::new(sandbox()), LIMITS).await;
}

#[tokio::test]
async fn a_script_that_is_ended_takes_the_names_of_its_session_along() {
    sessions::a_script_that_is_ended_takes_the_names_along(std::sync::Arc::new(sandbox()), LIMITS).await;
}

#[tokio::test]
async fn the_answers_to_calls_that_wait_together_are_waited_for_together() {
    sessions::answers_are_waited_for_together(std::sync::Arc::new(sandbox()), LIMITS).await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn names_of_a_session_that_are_gone_are_told() {
    let marked = Marked::new();
    let kill = async || {
        let worker = marked.processes().remove(0);
        worker.send(rustix::process::Signal::KILL);
        // Its last thread is gone a moment after its first.
        let threads = || fs::read_dir(worker.folder().join("task")).map_or(0, Iterator::count);
        patience::until("its interpreter is gone", || !worker.is_alive() && threads() <= 1).await;
    };
    let sandbox = std::sync::Arc::new(scripts::sandbox_of(marked.program()));
    sessions::names_that_are_gone_are_told(sandbox, LIMITS, kill).await;
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

/// Starts a script, looks at its child while it waits for a tool, and drops the run.
#[cfg(target_os = "linux")]
async fn while_it_waits<T>(marked: &Marked, look: impl FnOnce(&Path) -> T) -> T {
    let (sandbox, bridge) = (scripts::sandbox_of(marked.program()), Silence::default());
    // Outside of `select!`, which drops what it holds before it goes on.
    let mut run = std::pin::pin!(run_on(&sandbox, "from tools import *\nnoop(1)", LIMITS, &bridge));
    tokio::select! {
        outcome = &mut run => panic!("{outcome:?}"),
        () = bridge.0.notified() => {}
    }
    let children = marked.processes();
    assert_eq!(children.len(), 1, "{children:?}");
    look(&children[0].folder())
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_dropped_run_leaves_no_child() {
    let marked = Marked::new();
    while_it_waits(&marked, |_| ()).await;
    marked.all_gone().await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_script_runs_in_a_locked_child() {
    let look = |child: &Path| {
        let threads: Vec<String> = fs::read_dir(child.join("task"))
            .unwrap()
            .map(|thread| fs::read_to_string(thread.unwrap().path().join("status")).unwrap())
            .collect();
        // What whoever started this test left open for it is open there, too, and of no use under the filter.
        let is_inherited = |number: &str, target: &Path| {
            let here = fs::read_link(Path::new("/proc/self/fd").join(number));
            number.parse::<u32>().unwrap() > 2 && here.is_ok_and(|here| here == target)
        };
        let mut open: Vec<String> = fs::read_dir(child.join("fd"))
            .unwrap()
            .map(|descriptor| descriptor.unwrap())
            .map(|descriptor| (descriptor.file_name(), fs::read_link(descriptor.path()).unwrap()))
            .filter(|(number, target)| !is_inherited(number.to_str().unwrap(), target))
            .map(|(_, target)| target.display().to_string().split(':').next().unwrap().to_owned())
            .collect();
        open.sort();
        let read = |file: &str| fs::read_to_string(child.join(file)).unwrap();
        (threads, open, read("limits"), read("environ"))
    };
    let (threads, open, limits, environment) = while_it_waits(&Marked::new(), look).await;
    assert_eq!(threads.len(), 2, "one waits for the other, which runs the script");
    for status in &threads {
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
            assert!(status.contains(line), "{line} is not in\n{status}");
        }
    }
    assert_eq!(open, ["/dev/null", "pipe", "pipe", "socket", "socket"]);
    // The allocator cuts its settings apart where they stand.
    let (guard, settings) = (format!("{}=1", workbench::env::WORKER_GUARD), format!("{}=", workbench::env::ALLOCATOR));
    let is_ours = |part: &str| part == guard || part.starts_with(&settings) || part.starts_with("glibc.malloc.");
    let foreign: Vec<&str> = environment.split_terminator('\0').filter(|part| !is_ours(part)).collect();
    assert!(environment.contains(&guard) && foreign.is_empty(), "{environment:?}");
    for (limit, most) in
        [("Max open files", "8"), ("Max file size", "0"), ("Max processes", "0"), ("Max core file size", "0")]
    {
        let line = limits.lines().find(|line| line.starts_with(limit)).unwrap();
        let values: Vec<&str> = line[limit.len()..].split_whitespace().take(2).collect();
        assert_eq!(values, [most, most], "{line}");
    }
    // What `doctor` shows is what was just seen.
    assert!(workbench::lockdown::of_script_workers().iter().all(|protection| protection.active));
}

#[tokio::test]
async fn the_hidden_subcommand_refuses_to_be_run_by_hand() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_workbench")).arg("__script-worker").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("started by the workbench itself"));
}
