//! Command lines and environments that make no sense: what the real program says about each, before it does anything.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(unix)]

#[path = "support/bench.rs"]
mod bench;
#[path = "support/pipe.rs"]
mod pipe;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use bench::Bench;
use program::{Program, finish};
use server::Server;

const MANIFEST: &str = "[domain]\nname = \"case\"\ntitle = \"A case\"\nplugin = \"case\"\n\n\
                        [api]\nbase = \"https://api.example\"\nhosts = [\"api.example\"]\n";

/// Arguments and a part of what is said; the exit code is 2.
const TABLE: &[(&[&str], &str)] = &[
    (&["show", ""], "there is no domain ``"),
    (&["show", "../x"], "../x/domain.toml could not be read"),
    (&["show", "../../../../../../etc"], "etc/domain.toml could not be read"),
    (&["show", "/"], "/domain.toml could not be read"),
    (&["show", "/etc/passwd"], "/etc/passwd/domain.toml could not be read"),
    (&["show", "domains"], "there is no domain `domains`"),
    (&["show", "csae"], "did you mean `case`?"),
    (&["show", "a\nb"], "there is no domain `a\\nb`"),
    (&["show", "\u{1b}[2Jx"], "there is no domain `\\u{1b}[2Jx`"),
    (&["show", "*"], "there is no domain `*`"),
    (&["show", "-case"], "unexpected argument"),
    (&["fetch", "case", "file:///etc/passwd"], "only http and https can be asked for"),
    (&["fetch", "case", "https://user:word@api.example/"], "must not carry a user name or password"),
    (&["fetch", "case", "https://[::1]/"], "is not allowed"),
    (&["fetch", "case", "/x", "--inject", ""], "neither `status` nor `swallow`"),
    (&["fetch", "case", "/x", "--inject", "path="], "its path is empty"),
    (&["fetch", "case", "/x", "--inject", "path=*"], "neither `status` nor `swallow`"),
    (&["fetch", "case", "/x", "--inject", "status"], "`status` has no `=`"),
    (&["fetch", "case", "/x", "--inject", "status="], "is not an error status"),
    (&["fetch", "case", "/x", "--inject", "status=-1"], "is not an error status"),
    (&["fetch", "case", "/x", "--inject", "status=99999"], "is not an error status"),
    (&["fetch", "case", "/x", "--inject", "stauts=410"], "did you mean `status`?"),
    (&["fetch", "case", "/x", "--inject", "status=410,status=500"], "`status` is given twice"),
    (&["fetch", "case", "/x", "--inject", "status=410,after=-1"], "after `-1` is not a number"),
    (&["fetch", "case", "/x", "--inject", "status=410,after=99999999999999999999"], "is not a number"),
    (&["fetch", "case", "/x", "--inject", "status=410,first=0"], "meets no request"),
    (&["fetch", "case", "/x", "--inject", ",status=410"], "`,status` is unknown"),
    (&["fetch", "case", "/x", "--inject", "status=410,swallow={}"], "both `status` and `swallow`"),
    (&["fetch", "case", "/x", "--route", ""], "it has no `=`"),
    (&["fetch", "case", "/x", "--route", "="], "`` is not a host"),
    (&["fetch", "case", "/x", "--route", "api.example="], "is not an address"),
    (&["fetch", "case", "/x", "--route", "api.example=http://"], "is not an address"),
    (&["fetch", "case", "/x", "--route", "api.example=http://127.0.0.1:99999"], "is not an address"),
    (&["fetch", "case", "/x", "--route", "api.example=file:///etc"], "neither http nor https"),
    (&["fetch", "case", "/x", "--route", "api.example=http://127.0.0.1#x"], "must end with its path"),
    (&["fetch", "case", "/x", "--route", "api.exmple=http://127.0.0.1"], "did you mean `api.example`?"),
    (&["fetch", "case", "/x", "--route", "*=http://127.0.0.1"], "not among the domain's `[api] hosts`"),
    (&["fetch", "case", "/x", "--live", "--offline"], "cannot be used with"),
    (&["call", "case", "tool", "--tool-seconds", ""], "invalid value"),
    (&["call", "case", "tool", "--tool-seconds", "0"], "must be at least 1"),
    (&["call", "case", "tool", "--tool-seconds=-1"], "invalid value"),
    (&["call", "case", "tool", "--tool-seconds", "1.5"], "invalid value"),
    (&["call", "case", "tool", "--tool-seconds", "99999999999999999999"], "number too large"),
    (&["call", "case", "tool", "--tool-calls", "4294967296"], "number too large"),
    (&["call", "case", "tool", "--tool-secnds", "1"], "a similar argument exists: '--tool-seconds'"),
    (&["script", "case", "-", "--script-memory-mb", "0x10"], "invalid value"),
    (&["run", "case", "--mode", "Code"], "there is no mode `Code`"),
    (&["run", "case", "--mode", ""], "there is no mode ``"),
    (&["run", "case", "--tag", ""], "it is empty"),
    (&["run", "case", "--tag", "a\nb"], "control characters"),
    (&["compare", "case", "--modes", "loop,"], "there is no mode ``"),
    (&["compare", "case", "--runs", "101"], "101 is not in 1..=100"),
    (&["compare", "case", "--jobs", "0"], "0 is not in 1..=16"),
    (&["compare", "case", "--require", "x"], "there is no mode `x`"),
    (&["compare", "case", "--format", "xml"], "invalid value 'xml'"),
    (&["record", "case", "--urls", "/nowhere/urls.txt"], "/nowhere/urls.txt cannot be read"),
    (&["record", "case", "--urls", "domains"], "domains cannot be read"),
    (&["record", "case", "--urls", "/dev/zero"], "/dev/zero cannot be read"),
    (&["verify", ""], "there is no run ``"),
    (&["verify", "../../etc"], "../../etc"),
    (&["report", "case", "--results", "/nowhere/results"], "there are no runs of case"),
];

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2_and_says_why() {
    let bench = Bench::new(MANIFEST);
    let mut wrong = Vec::new();
    for (arguments, said) in TABLE {
        let outcome = bench.run(arguments);
        let is_clean = !outcome.stderr.contains('\u{1b}') && outcome.stdout.is_empty();
        if outcome.code != 2 || !outcome.stderr.contains(said) || !is_clean {
            wrong.push(format!("{arguments:?}: {outcome:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_that_are_no_text_are_refused_where_text_is_wanted() {
    let bench = Bench::new(MANIFEST);
    let word = OsStr::from_bytes(b"\xff\xfe");
    for before in [&["show"][..], &["fetch", "case"], &["call", "case"], &["run", "case", "--tag"], &["verify"]] {
        let outcome = finish(bench.command(before).arg(word), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{before:?}: {outcome:#?}");
    }
}

/// Variable, value, a part of what is said.
const ENVIRONMENTS: &[(&str, &[u8], &str)] = &[
    ("WORKBENCH_ROUTES", b"\xff\xfe", "the environment variable `WORKBENCH_ROUTES` is not UTF-8"),
    ("WORKBENCH_ROUTES", b"nonsense", "it stands in the environment variable `WORKBENCH_ROUTES`"),
    ("WORKBENCH_ROUTES", b"api.example=http://127.0.0.1:1,=", "it stands in the environment variable"),
    ("WORKBENCH_RESULTS", b"/dev/null/results", "/dev/null/results"),
    ("WORKBENCH_RESULTS", b"", "it is empty, here or in the environment variable `WORKBENCH_RESULTS`"),
];

#[test]
fn an_environment_that_makes_no_sense_is_named() {
    let bench = Bench::new(&format!("{MANIFEST}\n[task]\npersona = \"You help.\"\nprompt = \"Do it.\"\n"));
    // A results folder is looked at once a model is there.
    let scripts = bench.path().join("domains/case/rehearsal/code");
    std::fs::create_dir_all(&scripts).unwrap();
    std::fs::write(scripts.join("1.py"), "print(1)").unwrap();
    for (variable, value, said) in ENVIRONMENTS {
        let command = if *variable == "WORKBENCH_ROUTES" { &["fetch", "case", "/x"][..] } else { &["run", "case"] };
        let outcome = finish(bench.command(command).env(variable, OsStr::from_bytes(value)), "");
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{variable}: {outcome:#?}");
    }
}

#[test]
fn a_cargo_that_fails_without_a_word_is_told() {
    let bench = Bench::new(MANIFEST);
    std::fs::create_dir_all(bench.path().join("plugins/case")).unwrap();
    std::fs::write(bench.path().join("plugins/case/Cargo.toml"), "").unwrap();
    let outcome = finish(bench.command(&["tools", "case"]).env("CARGO", "false"), "");
    let said = "the plugin case could not be built: cargo ended with exit status: 1 and said nothing";
    assert!(outcome.code == 3 && outcome.stderr.contains(said), "{outcome:#?}");
}

#[test]
fn a_current_folder_that_is_gone_is_named() {
    let bench = Bench::new(MANIFEST);
    let gone = bench.path().join("gone");
    for arguments in [&["list"][..], &["show", "case"], &["run", "case"]] {
        std::fs::create_dir(&gone).unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "rmdir \"$PWD\" && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_workbench")]).args(arguments);
        let outcome = finish(command.current_dir(&gone).env_remove("WORKBENCH_RESULTS"), "");
        let said = "the current folder cannot be found";
        assert!(outcome.code == 2 && outcome.stderr.contains(said), "{arguments:?}: {outcome:#?}");
    }
}

/// Numbers as large as a manifest can hold are limits nobody reaches, and nothing panics on them.
#[test]
fn numbers_out_of_all_proportion_are_limits_like_others() {
    let most = u64::MAX;
    let bench = Bench::new(&format!(
        "{MANIFEST}request_seconds = {most}\nbody_mb = {most}\npace = {{ gap_ms = {most}, concurrency = {most} }}\n\n\
         [limits]\nscript_seconds = {most}\nscript_memory_mb = {most}\ntool_seconds = {most}\noutput_chars = {most}\n\
         tool_calls = {0}\nloop_turns = {0}\n",
        u32::MAX
    ));
    assert_eq!(bench.run(&["show", "case"]).code, 0);
    let mirror = Server::start(|_| server::json("\"here\""));
    let outcome = bench.run(&["fetch", "case", "/x", "--route", &format!("api.example={}", mirror.url())]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "\"here\""), "{outcome:#?}");
}

/// What `call` makes of arguments. Tools are asked only when the words are JSON or NAME=VALUE.
const CALLS: &[(&[&str], i32, &str)] = &[
    (&["get_object", ""], 2, "`` is not NAME=VALUE"),
    (&["get_object", "=1"], 2, "`=1` is not NAME=VALUE"),
    (&["get_object", "{"], 2, "the arguments are no JSON object"),
    (&["get_object", "{\"object_id\": 1}x"], 2, "the arguments are no JSON object"),
    (&["get_object", "{\"object_id\": \"\\ud800\"}"], 2, "the arguments are no JSON object"),
    (&["get_object", "{\"object_id\": 1e999}"], 2, "number out of range"),
    (&["get_object", "[9000003]"], 2, "`[9000003]` is not NAME=VALUE"),
    (&["get_object", "object_id=1", "object_id=2"], 2, "`object_id` is given twice"),
    (&["get_object", "{\"object_id\": 1}", "x=1"], 2, "is not NAME=VALUE"),
    (&["get_object"], 1, "object_id"),
    (&["get_object", "object_id="], 1, "object_id must be an integer"),
    (&["get_object", "object_id=true"], 1, "object_id must be an integer"),
    (&["get_object", "{\"object_id\": 1.5}"], 1, "object_id must be an integer"),
    (&["get_object", "{\"object_id\": -1}"], 1, "object_id must be at least 0"),
    (&["get_object", "{\"object_id\": \"\\u0000\"}"], 1, "object_id must be an integer"),
    (&["get_object", "{\"object_id\": 99999999999999999999}"], 1, "object_id must be an integer"),
    (&["", "x=1"], 2, "unknown tool ``"),
    (&["../x"], 2, "unknown tool `../x`"),
];

#[test]
fn arguments_of_a_call_are_refused_with_the_reason() {
    let program = Program::new();
    let mut wrong = Vec::new();
    let huge = format!("query={}", "q".repeat(100_000));
    let deep = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let more: [(&[&str], i32, &str); 2] = [
        (&["search_collection", &huge], 1, "bytes; at most 32768 are asked for"),
        (&["get_object", &deep], 2, "recursion limit exceeded"),
    ];
    for (words, code, said) in CALLS.iter().chain(&more) {
        let arguments: Vec<&str> = ["call", "met"].iter().chain(*words).copied().collect();
        let outcome = program.run(&arguments);
        if outcome.code != *code || !(outcome.stderr.contains(said) || outcome.stdout.contains(said)) {
            wrong.push(format!("{said}: {} {:.300} {:.300}", outcome.code, outcome.stdout, outcome.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
