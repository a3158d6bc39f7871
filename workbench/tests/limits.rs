//! Every limit of the manifest ends what it limits, in runs of the real program: a row each, and where a limit is one of
//! calls, a row for those of the model and one for those of a script.
#![cfg(all(feature = "embedded", target_os = "linux"))]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/server.rs"]
mod server;
#[path = "support/waiting.rs"]
mod waiting;

use std::collections::BTreeSet;
use std::time::Duration;

use server::{Reply, Server, head, json};
use waiting::{Run, Waiting};
use workbench::domain::manifest::Limits;
use workbench::results::format::{CallEnd, Stop};
use workbench::results::store::read_transcript;

/// Makes calls one by one and goes on after a refusal.
const CALLS: &str =
    "from tools import *\nfor _ in range(4):\n    try: quick()\n    except ToolError as error: print(error)\n";

/// Asks for something once and prints what came.
fn once(tool: &str) -> String {
    format!(
        "from tools import *\ntry: print(len(str({tool}())))\nexcept ToolError as error: print('refused:', error)\n"
    )
}

/// Whether the one call was refused with this text.
fn has_refused(run: &Run, text: &str) -> bool {
    let [call] = run.ledger.as_slice() else { return false };
    call.outcome == CallEnd::ToolError && call.error.as_deref().is_some_and(|error| error.contains(text))
}

/// A limit as the manifest has it, the mode, what the model plays, and what has to be true of the run.
type Row = (&'static str, &'static str, &'static str, Vec<String>, fn(&Run) -> bool);

fn rows() -> Vec<Row> {
    let scripts = |scripts: &[&str]| scripts.iter().map(|script| (*script).to_owned()).collect::<Vec<_>>();
    let timed_out = |run: &Run| run.ledger.len() == 1 && run.ledger[0].outcome == CallEnd::TimedOut;
    let within_budget = |run: &Run| {
        run.record.stop == Stop::Budget && run.calls() == ["quick answered", "quick answered", "quick refused"]
    };
    vec![
        ("serial_turns = 2", "limits", "serial", scripts(&[CALLS]), |run| {
            (run.record.stop, run.record.model_turns) == (Stop::MaxTurns, 2)
        }),
        ("loop_turns = 1", "limits", "loop", scripts(&[CALLS]), |run| {
            (run.record.stop, run.record.model_turns) == (Stop::MaxTurns, 1)
        }),
        ("code_turns = 1", "limits", "code", scripts(&["print(1)", "print(2)"]), |run| {
            (run.record.stop, run.record.scripts_run) == (Stop::MaxTurns, 1)
        }),
        ("script_seconds = 2", "limits", "code", scripts(&["while True: pass"]), |run| {
            let output = run.file("scripts/01.out");
            // A loaded machine may be late.
            output.starts_with("KILLED after ") && output.contains(" s: the script reached its time limit")
        }),
        ("script_seconds = 2", "limits", "code", vec![once("endless")], |run| {
            run.file("scripts/01.out").starts_with("KILLED after ") && run.calls() == ["endless abandoned"]
        }),
        ("script_memory_mb = 32", "limits", "code", scripts(&["x = bytearray(64 * 2**20)\nprint(len(x))"]), |run| {
            run.file("scripts/01.out").contains("the script ran out of memory")
        }),
        ("tool_seconds = 1", "limits", "loop", vec![once("endless")], timed_out),
        ("tool_seconds = 1", "limits", "code", vec![once("endless")], timed_out),
        ("tool_calls = 2", "limits", "loop", scripts(&[CALLS]), within_budget),
        ("tool_calls = 2", "limits", "code", scripts(&[CALLS]), within_budget),
        ("output_chars = 100", "limits", "code", scripts(&["print('x' * 1000)"]), |run| {
            let read = read_transcript(&run.folder).unwrap().nth(2).unwrap().unwrap().to_string();
            read.matches('x').count() == 99 && read.contains("[the first 901 characters of the output were cut]")
        }),
        ("body_mb = 1", "api", "loop", vec![once("record")], |run| has_refused(run, "1 MB")),
        ("body_mb = 1", "api", "code", vec![once("record")], |run| has_refused(run, "1 MB")),
    ]
}

#[test]
fn every_limit_of_the_manifest_ends_what_it_limits() {
    // A record of two megabytes.
    let api = Server::start(|_| json(&format!("\"{}\"", "r".repeat(2 << 20))));
    let route = format!("api.example={}", api.url());
    let mut wrong = Vec::new();
    for (limit, section, mode, scripts, holds) in rows() {
        let api = "[api]\nbase = 'https://api.example'\nhosts = ['api.example']\n";
        let waiting = Waiting::new(&match section {
            "api" => format!("{api}{limit}\n"),
            _ => format!("{api}[{section}]\n{limit}\n"),
        });
        let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
        let run = waiting.plays(&scripts).run(mode, &["--route", &route]);
        if !holds(&run) {
            let output = run.file("scripts/01.out");
            wrong.push(format!("{limit} in {mode}: {:?} {:?}\n{output}{}", run.record.stop, run.ledger, run.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rehearsed policy is a script, too, and the limits of the command line are its limits: a flag, a policy, and what
/// is said of it. The manifest's limits would let each of them go on.
#[test]
fn limits_of_the_command_line_hold_for_a_policy() {
    let table = [
        (["--script-seconds", "2"], "while True: pass", "it neither called a tool nor ended within 2 s"),
        (["--script-memory-mb", "32"], "x = bytearray(64 * 2**20)\nprint(len(x))", "the script ran out of memory"),
    ];
    for (flag, policy, said) in table {
        let waiting = Waiting::new("");
        let run = waiting.plays(&[policy]).run("loop", &flag);
        let told = run.record.stop_detail.as_deref().unwrap_or_default();
        assert!(run.record.stop == Stop::ModelError && told.contains(said), "{flag:?}: {:#?}", run.record);
    }
}

/// A limit that is added needs a row.
#[test]
fn no_limit_is_without_a_row() {
    let rows: BTreeSet<String> = rows().iter().map(|row| row.0.split(' ').next().unwrap().to_owned()).collect();
    // There is no mode `hosted` yet.
    let without: Vec<&str> = Limits::default()
        .entries()
        .map(|(key, _)| key)
        .into_iter()
        .filter(|key| !rows.contains(*key) && *key != "hosted_turns")
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

/// A request that hangs is the API's, and takes no time of the tool's.
#[test]
fn a_request_has_its_own_limit_which_holds_for_nested_calls() {
    let api = Server::start(|_| {
        let headers = ["content-type: application/json"];
        Reply::Endless(head(200, &headers, Some(1 << 20)), b" ".to_vec(), Duration::from_millis(50))
    });
    let route = format!("api.example={}", api.url());
    let manifest = "[api]\nbase = 'https://api.example'\nhosts = ['api.example']\nrequest_seconds = 1\n\
                    [limits]\ntool_seconds = 1\n";
    let run = Waiting::new(manifest).plays(&[&once("record")]).run("code", &["--route", &route]);
    let [call] = run.ledger.as_slice() else { panic!("{:?}", run.ledger) };
    assert_eq!(call.outcome, CallEnd::ToolError, "{call:?}");
}
