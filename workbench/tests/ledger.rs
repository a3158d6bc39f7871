//! The ledger holds every call that a script made, whatever became of the script: read back from the files of real runs.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/waiting.rs"]
mod waiting;

use patience::wait_until;
use processes::{Process, Running, children, send};
use rustix::process::Signal;
use waiting::Waiting;
use workbench::results::format::Stop;
use workbench::sandbox::embedded::SUBCOMMAND;

/// Two calls that never end are under way, and one that was answered.
const THREE_CALLS: &str = "
import _workbench
import tools
for _ in range(2):
    _workbench.start('endless', {})
tools.quick()
";

const UNDER_WAY: [&str; 3] = ["endless abandoned", "endless abandoned", "quick answered"];

/// A name; what a script does after the three calls; what the run is told besides; how its script ends for the model; and
/// which calls the ledger has beside the three.
type End = (&'static str, &'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const ENDS: &[End] = &[
    ("time-out", "while True: pass", &["--script-seconds", "4"], "KILLED after", &[]),
    ("waiting for ever", "_workbench.wait(None)", &["--script-seconds", "4"], "KILLED after", &[]),
    ("its own end", "", &[], "(no output)", &[]),
    ("its own exit", "raise SystemExit(4)", &[], "EXIT CODE 4", &[]),
    ("a failure", "1 / 0", &[], "ZeroDivisionError", &[]),
    ("no memory", "x = 'a' * 10**10", &[], "the script ran out of memory", &[]),
    (
        "a crash",
        "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'\\x01' * 400)\nf()",
        &[],
        "CRASHED after",
        &[],
    ),
    ("too much output", "while True: print('x' * 1000000)", &[], "STOPPED after", &[]),
    (
        "the budget",
        "tools.quick()\ntools.quick()\ntools.quick()",
        &["--tool-calls", "4"],
        "this run may make 4 tool calls",
        &["quick answered", "quick refused"],
    ),
    (
        "the budget, at once",
        "for _ in range(1000): _workbench.start('endless', {})\nwhile True: pass",
        &["--tool-calls", "5"],
        "this run may make 5 tool calls",
        &["endless abandoned", "endless abandoned", "quick refused"],
    ),
    (
        "calls that no one waits for",
        "for _ in range(100): _workbench.start('endless', {})\nraise KeyError",
        &[],
        "KeyError",
        &["endless abandoned"; 100],
    ),
    (
        "a tool that does not exist",
        "print(_workbench.call('no such tool', {}))",
        &[],
        "unknown tool `no such tool`",
        &["no such tool refused"],
    ),
];

#[test]
fn the_ledger_holds_every_call_whatever_ends_the_script() {
    let mut wrong = Vec::new();
    for (name, then, more, told, besides) in ENDS {
        let waiting = Waiting::new("");
        let run = waiting.plays(&[&format!("{THREE_CALLS}{then}")]).run("code", more);
        let mut expected: Vec<&str> = UNDER_WAY.iter().chain(*besides).copied().collect();
        // The one refusal for want of budget names the call that was refused.
        if *name == "the budget, at once" {
            expected.retain(|call| *call != "quick refused");
            expected.push("endless refused");
        }
        expected.sort_unstable();
        let output = run.file("scripts/01.out");
        if run.calls() != expected {
            wrong.push(format!("{name}: the ledger has {:?}, and not {expected:?}\n{output}", run.calls()));
        }
        if !output.contains(told) {
            wrong.push(format!("{name}: it says {output}"));
        }
        let made = expected.iter().filter(|call| !call.ends_with("refused")).count();
        if run.record.nested_calls as usize != made {
            wrong.push(format!("{name}: {} calls are counted, and not {made}", run.record.nested_calls));
        }
        if run.ledger.iter().any(|call| call.script != Some(1) || call.turn != 1) {
            wrong.push(format!("{name}: a call is not the script's"));
        }
        let stop = if name.starts_with("the budget") { Stop::Budget } else { Stop::EndTurn };
        if run.record.stop != stop {
            wrong.push(format!("{name}: the run stops for {:?}", run.record.stop));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run whose script has made its three calls and does no more.
fn while_calls_are_under_way(waiting: &Waiting) -> Running {
    waiting.plays(&[&format!("{THREE_CALLS}while True: pass")]);
    let running = Running(waiting.command("code", &[]).spawn().unwrap());
    // What the script asked for before the call that was answered is known to the host.
    has_ended(waiting, 1);
    running
}

/// Waits until this many calls have ended.
fn has_ended(waiting: &Waiting, calls: usize) {
    wait_until(&format!("{calls} calls have ended"), || {
        waiting.only_run().is_some_and(|run| run.ledger.len() >= calls)
    });
}

/// The process of the running script: a child of the run's.
fn script_worker(running: &Running) -> Process {
    let mut found = children(running.0.id());
    found.retain(|child| child.role() == SUBCOMMAND);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn a_worker_that_is_killed_leaves_its_calls() {
    let waiting = Waiting::new("");
    let mut running = while_calls_are_under_way(&waiting);
    script_worker(&running).send(Signal::KILL);
    // Its script is run once more, and makes its calls again.
    has_ended(&waiting, 4);
    script_worker(&running).send(Signal::KILL);
    running.0.wait().unwrap();
    let run = waiting.only_run().unwrap();
    let mut calls = [UNDER_WAY, UNDER_WAY].concat();
    calls.sort_unstable();
    assert_eq!((run.calls(), run.record.nested_calls), (calls.iter().map(|call| (*call).to_owned()).collect(), 6));
    assert!(run.file("scripts/01.out").starts_with("CRASHED after"), "{}", run.file("scripts/01.out"));
}

#[test]
fn a_run_that_is_interrupted_leaves_its_calls() {
    let waiting = Waiting::new("");
    let mut running = while_calls_are_under_way(&waiting);
    send(running.0.id(), Signal::INT);
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
    let run = waiting.only_run().unwrap();
    assert_eq!((run.calls(), run.record.nested_calls), (UNDER_WAY.map(str::to_owned).to_vec(), 3));
    assert_eq!(run.record.stop, Stop::Interrupted);
}
