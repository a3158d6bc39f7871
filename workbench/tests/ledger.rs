//! The ledger holds every call that a script made, whatever became of the script: read back from the files of real runs.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/waiting.rs"]
mod waiting;

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use waiting::Waiting;
use workbench::results::format::Stop;

/// Longest time anything here may take before the test says that it hangs.
const PATIENCE: Duration = Duration::from_secs(240);

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
        "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'\\x01' * 400)\nf()\nprint('CRASHED')",
        &[],
        "CRASHED",
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

/// A run that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _status = self.0.wait();
    }
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
    let begun = Instant::now();
    while waiting.only_run().is_none_or(|run| run.ledger.len() < calls) {
        assert!(begun.elapsed() < PATIENCE, "the run does not come that far");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process of the running script: a child of the run's.
fn script_worker(running: &Running) -> Pid {
    let parent = running.0.id().to_string();
    let is_its = |process: &std::path::Path| {
        let stat = fs::read_to_string(process.join("stat")).ok()?;
        let command = fs::read_to_string(process.join("cmdline")).ok()?;
        let of = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        (of == parent && command.contains("__script-worker")).then_some(())
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let found = processes.filter(|process| is_its(process).is_some()).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{found:?}");
    Pid::from_raw(found[0].file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap()
}

#[test]
fn a_worker_that_is_killed_leaves_its_calls() {
    let waiting = Waiting::new("");
    let mut running = while_calls_are_under_way(&waiting);
    kill_process(script_worker(&running), Signal::KILL).unwrap();
    // Its script is run once more, and makes its calls again.
    has_ended(&waiting, 4);
    kill_process(script_worker(&running), Signal::KILL).unwrap();
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
    kill_process(Pid::from_child(&running.0), Signal::INT).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
    let run = waiting.only_run().unwrap();
    assert_eq!((run.calls(), run.record.nested_calls), (UNDER_WAY.map(str::to_owned).to_vec(), 3));
    assert_eq!(run.record.stop, Stop::Interrupted);
}
