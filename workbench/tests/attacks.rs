//! Scripts that mean harm or are badly broken, in the real sandbox.
//!
//! A case is a file `tests/attacks/NAME.py`; `tests/support/attacks.rs` says what stands at its top.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/attacks.rs"]
mod attack;
#[path = "support/left_behind.rs"]
mod left_behind;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/scripts.rs"]
mod scripts;
#[path = "support/standin.rs"]
mod standin;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use attack::complaints;
use futures::StreamExt;
use left_behind::{Marked, descriptors, leaves_no_file, peak_memory};
use patience::until;
use processes::children;
use scripts::{Case, LIMITS, sandbox_of};
use workbench::sandbox::embedded::Embedded;
use workbench::sandbox::{ScriptEnd, ScriptLimits, ScriptOutcome};

/// Megabytes the host may take for whatever scripts do, two at once: each may have asked for 64 MB and wait for answers
/// of as much, and what carries them on copies them.
const MOST_MEMORY: u64 = 768;

async fn run(sandbox: &Embedded, source: &str, limits: ScriptLimits, calls: usize) -> ScriptOutcome {
    attack::run(sandbox, source, limits, calls).await
}

/// What the test process has by rights, and a sandbox that is to leave nothing more.
struct Scene {
    marked: Marked,
    sandbox: Embedded,
    descriptors: usize,
}

impl Scene {
    /// Sets it up for the test of this name, in a process and a runtime of its own, one test at a time: each may take
    /// the memory that the machine has.
    fn play(name: &str, test: impl AsyncFnOnce(Self)) {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        leaves_no_file(name, || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let marked = Marked::new();
                let sandbox = sandbox_of(marked.program());
                // What the runtime opens once for all children is open from here on.
                run(&sandbox, "", LIMITS, 0).await;
                marked.all_gone().await;
                peak_memory();
                test(Self { marked, sandbox, descriptors: descriptors() }).await;
            });
        });
    }

    /// The next script runs, and nothing is left of those before.
    async fn end(self) {
        let outcome = run(&self.sandbox, "from tools import *\nprint(noop('well'))", LIMITS, 1).await;
        assert_eq!((outcome.end, outcome.stdout.text.as_str()), (ScriptEnd::Exit(0), "well\n"));
        let taken = peak_memory();
        assert!(taken < MOST_MEMORY, "the host took {taken} MB");
        self.marked.all_gone().await;
        // The tasks that moved the last frames may be a moment behind.
        until("no descriptor is left open", || descriptors() <= self.descriptors).await;
        // Dead ones that nobody asked for included.
        let children = children(std::process::id());
        assert!(children.is_empty(), "{children:?}");
    }
}

async fn all_end_as_told(cases: &[Case], scene: Scene) {
    let sandbox = &scene.sandbox;
    let complaints: Vec<String> =
        futures::stream::iter(cases).map(|case| complaints(sandbox, case)).buffer_unordered(3).concat().await;
    assert!(complaints.is_empty(), "{} of {}\n{}", complaints.len(), cases.len(), complaints.join("\n"));
    scene.end().await;
}

fn ours() -> Vec<Case> {
    let cases = Case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks"));
    assert!(cases.len() > 40, "the cases are gone");
    assert!(cases.iter().all(|case| case.setting("end").is_some()), "a case does not say how it ends");
    cases
}

#[test]
fn every_attack_ends_as_its_file_says() {
    Scene::play("every_attack_ends_as_its_file_says", async |scene| all_end_as_told(&ours(), scene).await);
}

/// Attacks that others wrote, which lie beside the repository where there are any. They do not say how they end; that
/// it is told is what counts.
#[test]
fn attacks_of_others_end_and_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/tools/scripts/limits");
    if !folder.is_dir() {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    }
    let import = |case: Case| Case {
        // They stand on the names of the tools; some gather, and so mean the coroutines.
        source: format!(
            "# seconds: 3\n# memory_mb: 128\nfrom tools{} import *\n{}",
            if case.source.contains("await ") { ".aio" } else { "" },
            case.source
        ),
        ..case
    };
    let cases: Vec<Case> = Case::all(&folder).into_iter().map(import).collect();
    Scene::play("attacks_of_others_end_and_are_told", async |scene| all_end_as_told(&cases, scene).await);
}

/// Short scripts that end badly, each in its own way.
const FAULTS: [(&str, &str); 10] = [
    ("1 / 0", "Exit(1)"),
    ("import sys\nsys.exit(3)", "Exit(3)"),
    ("x = = 1", "Exit(1)"),
    ("raise KeyboardInterrupt", "Exit(130)"),
    ("x = 'a' * 10**10", "OutOfMemory"),
    ("def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'\\x01' * 400)\nf()", "Crashed"),
    ("from tools import *\nwhile True:\n    try: noop(1)\n    except BaseException: pass", "Stopped"),
    ("from tools.aio import *\nimport asyncio\nawait asyncio.gather(*[noop(i) for i in range(50)])", "Stopped"),
    ("import _workbench\nfor i in range(5): _workbench.start('noop', {'x': 1})\nraise KeyError", "Exit(1)"),
    ("while True: pass", "TimedOut"),
];

#[test]
fn two_hundred_faulted_scripts_leave_nothing() {
    let limits = ScriptLimits { time: Duration::from_secs(20), memory: 64 << 20, ..LIMITS };
    let short = ScriptLimits { time: Duration::from_millis(200), ..limits };
    Scene::play("two_hundred_faulted_scripts_leave_nothing", async |scene| {
        let sandbox = &scene.sandbox;
        let wrong: Vec<String> = futures::stream::iter(FAULTS.iter().cycle().take(200))
            .map(async |(source, end)| {
                let limits = if *end == "TimedOut" { short } else { limits };
                let got = format!("{:?}", run(sandbox, source, limits, 10).await.end);
                (!got.starts_with(end)).then(|| format!("{source}\n--- {got}"))
            })
            .buffer_unordered(3)
            .filter_map(async |complaint| complaint)
            .collect()
            .await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        scene.end().await;
    });
}
