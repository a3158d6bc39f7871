//! The keys of providers and of APIs: where they must not be, and keys that are none.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(all(target_os = "linux", feature = "embedded"))]

#[path = "support/exhibit.rs"]
mod exhibit;
#[path = "support/messages_api/mod.rs"]
mod messages_api;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use exhibit::{MODEL, STANDIN, call, command, exhibit, outcome, text, turn};
use messages_api::{Fault, KEY, MessagesApi, Script};
use patience::wait_until;
use processes::{Running, descendants};
use program::{Program, finish};
use rustix::process::Signal;
use serde_json::{Value, json};
use server::Server;
use workbench::env::KEYS;

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files
}

fn holds_key(bytes: &[u8]) -> bool {
    bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes())
}

#[test]
fn the_key_is_in_nothing_that_a_run_leaves() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(true)));
    let trace = program.results().join("trace");
    // A server that repeats the key in its words, on the way and at the end.
    let words = format!(r#"{{"type":"error","error":{{"type":"odd","message":"your key {KEY} is busy"}}}}"#);
    let busy = |status, wait| {
        Fault::Raw(status, vec!["content-type: application/json", wait, "x-key: repeated"], words.clone())
    };
    api.meet([busy(529, "retry-after: 0")]);
    let model = "anthropic:claude-sonnet-5-5";
    let modes = "serial,loop,code";
    let arguments = ["compare", "met", "--runs", "1", "--modes", modes, "--caching", "--model", model, "--trace"];
    let made = outcome(&program, &api, &[&arguments[..], &[trace.to_str().unwrap()]].concat());
    assert!(made.code == 0 && made.stdout.contains("1 of 1"), "{made:?}");
    api.meet([busy(403, "x-should-retry: false")]);
    let refused =
        outcome(&program, &api, &[&["run", STANDIN, "--trace", trace.to_str().unwrap()], &MODEL[..]].concat());
    assert!(refused.code == 5, "{refused:?}");
    let told = format!("{}{}{}{}", made.stdout, made.stderr, refused.stdout, refused.stderr);
    assert!(told.contains("your key (hidden) is busy"), "{told}");
    assert!(!holds_key(told.as_bytes()), "{told}");

    let files = files(program.results());
    let is_of = |name: &str| files.iter().filter(|file| file.ends_with(name)).count();
    assert_eq!([is_of("run.json"), is_of("transcript.jsonl"), is_of("domain.toml")], [4, 4, 4]);
    for file in &files {
        assert!(!holds_key(&fs::read(file).unwrap()), "{}", file.display());
    }

    // The trace has all that was sent and received, in order.
    let document = |number: usize, kind: &str| -> Value {
        serde_json::from_slice(&fs::read(trace.join(format!("{number:04}-{kind}.json"))).unwrap()).unwrap()
    };
    let requests = api.requests();
    assert_eq!(files.iter().filter(|file| file.starts_with(&trace)).count(), requests.len() * 2);
    for (number, request) in (1..).zip(&requests) {
        let (asked, answered) = (document(number, "request"), document(number, "response"));
        assert_eq!(asked["method"], request.method);
        assert!(asked["address"].as_str().unwrap().ends_with(&request.target), "{asked:#}");
        assert_eq!(asked["headers"]["x-api-key"], "(hidden)");
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        assert_eq!(asked["body"], body);
        assert!(answered["status"].is_u64() && answered["body"].is_object(), "{answered:#}");
    }
    assert_eq!(document(3, "response")["body"]["error"]["message"], "your key (hidden) is busy");
}

#[test]
fn no_child_has_the_key() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    for mode in ["loop", "code"] {
        api.hold_after(Some(api.served().iter().filter(|it| it.what == "messages").count() + 2));
        let mut running = command(&program, &api, &[&["run", "met", "--mode", mode], &MODEL[..]].concat());
        let running =
            Running(running.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let asked = || api.requests().iter().filter(|it| it.target == "/v1/messages").count();
        let before = api.served().iter().filter(|it| it.what == "messages").count();
        wait_until("the model thinks about its third turn", || asked() >= before + 3);
        let children = descendants(running.0.id());
        assert!(!children.is_empty());
        for child in children {
            let environment = fs::read(child.folder().join("environ")).unwrap_or_default();
            assert!(!holds_key(&environment), "{}: {}", child.role(), String::from_utf8_lossy(&environment));
            assert!(!child.command.contains(KEY), "{}", child.command);
        }
        let own = fs::read(format!("/proc/{}/environ", running.0.id())).unwrap();
        assert!(holds_key(&own), "the test looks in the right place");
        drop(running);
    }
}

/// The key of a domain's own API goes to that API, and nowhere else.
#[test]
fn the_key_of_an_api_is_in_its_requests_and_in_nothing_else() {
    let api = Server::start(|request| match request.header("x-token") {
        Some(KEY) => server::json(r#"{"title": "One", "department": "D"}"#),
        _ => server::answer(401, &["content-type: application/json"], br#"{"message": "no token"}"#),
    });
    let (program, home) = (Program::new(), tempfile::tempdir().unwrap());
    let domain = home.path().join("museum");
    fs::create_dir_all(domain.join("rehearsal/code")).unwrap();
    let manifest = "[domain]\nname = 'museum'\ntitle = 'Museum'\nplugin = 'met'\n\
        [api]\nbase = 'https://api.example'\nhosts = ['api.example']\nheaders = { x-token = 'env:MUSEUM_TOKEN' }\n\
        [task]\npersona = 'p'\nprompt = 'p'\n\
        [evidence]\nrecord = { get = '/v1/objects/1' }\n[[verify]]\nname = 'a title'\ncheck = \"record.title == 'One'\"\n";
    let script = "from tools import *\nprint(get_object(1))\ntry:\n    import os\n    print(dict(os.environ))\n\
                  except Exception as error:\n    print(error)\n";
    for (file, text) in [
        ("domain.toml", manifest),
        ("smoke.py", script),
        ("rehearsal/loop.py", "from tools import *\nprint(get_object(1))\n"),
        ("rehearsal/code/1.py", script),
    ] {
        fs::write(domain.join(file), text).unwrap();
    }
    let (domain, route) = (domain.to_str().unwrap(), format!("api.example={}", api.url()));
    let smoke = format!("{domain}/smoke.py");
    let mut told = Vec::new();
    for arguments in [
        ["compare", domain, "--runs=1"],
        ["fetch", domain, "/v1/objects/1"],
        ["script", domain, &smoke],
        ["record", domain, "--urls=/dev/null"],
        ["record", domain, "--to=museum/cassette"],
        ["show", domain, "--format=json"],
        ["verify", "code-1", "--again"],
        ["doctor", "--format=json", "--results=results"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.args(arguments).env("WORKBENCH_RESULTS", program.results()).env("WORKBENCH_ROUTES", &route);
        let outcome = finish(command.env("MUSEUM_TOKEN", KEY).current_dir(home.path()), "");
        told.push((arguments, outcome));
    }
    assert!(told[0].1.stdout.contains("1 of 1"), "{told:?}");
    assert!(api.requests().len() >= 2 && api.requests().iter().all(|it| it.header("x-token") == Some(KEY)));
    for (arguments, outcome) in &told {
        assert!(!holds_key(format!("{outcome:?}").as_bytes()), "{arguments:?}: {outcome:?}");
    }
    let left = [files(program.results()), files(home.path())].concat();
    for name in ["ledger.jsonl", "transcript.jsonl", "index.jsonl"] {
        assert!(left.iter().any(|file| file.ends_with(name)), "{name}: {left:?}");
    }
    for file in left {
        assert!(!holds_key(&fs::read(&file).unwrap()), "{}", file.display());
    }
}

/// What a build runs is code of others as well.
#[test]
fn no_build_has_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (cargo, told) = (folder.path().join("cargo"), folder.path().join("environment"));
    fs::write(&cargo, format!("#!/bin/sh\nenv >> {}\nexit 1\n", told.display())).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let domain = folder.path().join("other");
    for (file, text) in [
        (
            "other/domain.toml",
            "[domain]\nname = 'other'\ntitle = 'Other'\nplugin = 'other'\n[api]\nheaders = { x-token = 'env:MUSEUM_TOKEN' }\n\
             [task]\npersona = 'x'\nprompt = 'x'\n",
        ),
        ("plugins/other/Cargo.toml", "[package]\nname = 'other'\n"),
    ] {
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        fs::write(folder.path().join(file), text).unwrap();
    }
    let program = Program::new();
    for arguments in [vec!["tools", domain.to_str().unwrap()], vec!["doctor"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        if arguments[0] == "tools" {
            command.env("MUSEUM_TOKEN", KEY);
        }
        command.args(arguments).current_dir(folder.path()).env("CARGO", &cargo);
        command.env("WORKBENCH_RESULTS", program.results()).env("KEPT", "yes");
        command.envs(KEYS.map(|name| (name, KEY)));
        let outcome = finish(&mut command, "");
        assert!(!outcome.stdout.contains(KEY) && !outcome.stderr.contains(KEY), "{outcome:?}");
    }
    let told = fs::read_to_string(&told).unwrap();
    assert_eq!(told.matches("KEPT=yes").count(), 2, "both have asked cargo: {told}");
    assert!(!told.contains("API_KEY") && !told.contains(KEY), "{told}");
}

#[test]
fn keys_that_are_none_are_told_without_showing_them() {
    let api = MessagesApi::start(Script::of(&[turn(&[text("Done.")])]));
    let program = Program::new();
    let table: [(&[u8], &str); 8] = [
        (b"", "`ANTHROPIC_API_KEY` is not set, and `anthropic:claude-haiku-5-5` needs it"),
        (b"sk-hush\n", "holds what no key can: a line feed"),
        (b"sk-hush\r\nx-evil: 1", "holds what no key can: a line feed"),
        (b" sk-hush", "holds what no key can: blanks"),
        (b"sk-hush ", "holds what no key can: blanks"),
        (b"sk-h\xc3\xbcsh", "holds what no key can: letters that are not ASCII"),
        (b"sk-hush\xff", "holds what no key can: letters that are not ASCII"),
        (b"sk-hush\x07", "holds what no key can: control characters"),
    ];
    for (key, told) in table {
        let arguments = [&["run", STANDIN], &MODEL[..]].concat();
        let outcome = finish(command(&program, &api, &arguments).env("ANTHROPIC_API_KEY", OsStr::from_bytes(key)), "");
        assert!(outcome.code == 2 && outcome.stderr.contains(told), "{key:?}: {outcome:?}");
        assert!(!outcome.stderr.contains("hush") && !outcome.stderr.contains("sk-"), "{outcome:?}");
        assert_eq!(
            outcome.stderr.contains("hint: without a key, `rehearsal` plays a model"),
            key.is_empty(),
            "{outcome:?}"
        );
    }
    assert_eq!(api.requests().len(), 0, "none of them is sent");
    // A wrong one is sent, refused, and not shown, although the server repeats it.
    let wrong = "sk-ant-hush-hush-hush-hush";
    let arguments = [&["run", STANDIN], &MODEL[..]].concat();
    let outcome = finish(command(&program, &api, &arguments).env("ANTHROPIC_API_KEY", wrong), "");
    let told = "answered 401 (authentication_error: invalid x-api-key: (hidden); request req_test): the key in \
                `ANTHROPIC_API_KEY` is not one of this API; set one that is";
    assert!(outcome.code == 5 && outcome.stderr.contains(told) && !outcome.stderr.contains("hush"), "{outcome:?}");
}

#[test]
fn a_comparison_that_was_killed_goes_on_without_paying_twice() {
    let (program, api) = (Program::new(), MessagesApi::start(exhibit(false)));
    let arguments = [&["compare", "met", "--modes", "loop", "--runs", "2", "--format", "json"], &MODEL[..]].concat();
    // The first run takes five turns; the second is killed while it waits for its third.
    api.hold_after(Some(7));
    let mut host = command(&program, &api, &arguments);
    let host = Running(host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    wait_until("the second run waits", || api.requests().iter().filter(|it| it.target == "/v1/messages").count() == 8);
    processes::send(host.0.id(), Signal::KILL);
    drop(host);
    api.hold_after(None);
    let resumed = outcome(&program, &api, &[&arguments[..], &["--resume"]].concat());
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let report: Value = serde_json::from_str(&resumed.stdout).unwrap();
    assert_eq!([&report["modes"][0]["n"], &report["modes"][0]["passed"]], [&json!(2), &json!(2)]);
    assert_eq!(api.turns().len(), 7 + 5, "only the run that was cut off is made again");
    assert_eq!(api.errors(), Vec::<String>::new());
    // Nothing is left to be made, and nothing is asked.
    let again = outcome(&program, &api, &[&arguments[..], &["--resume"]].concat());
    assert!(again.code == 2 || again.stderr.contains("0 to be made"), "{again:?}");
    // Another way of asking is another measurement.
    let other = outcome(&program, &api, &[&arguments[..], &["--resume", "--caching"]].concat());
    assert!(other.code == 2 && other.stderr.contains("caching"), "{other:?}");
    assert_eq!(api.turns().len(), 12);
}

/// A run in every mode that can be stopped in the middle of a turn by the user.
#[test]
fn ctrl_c_ends_a_conversation_that_waits_for_the_model() {
    let api = MessagesApi::start(Script::of(&[turn(&[call("noop", json!({ "x": 1 }))])]));
    let program = Program::new();
    api.hold_after(Some(2));
    let mut host =
        command(&program, &api, &[&["run", STANDIN, "--mode", "loop", "--format", "json"], &MODEL[..]].concat());
    let mut host = Running(host.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    wait_until("the third turn waits", || api.requests().iter().filter(|it| it.target == "/v1/messages").count() == 3);
    processes::send(host.0.id(), Signal::INT);
    let status = host.0.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let folder = fs::read_dir(program.results().join("standin")).unwrap().next().unwrap().unwrap().path();
    let run: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!([&run["stop"], &run["model_turns"]], [&json!("interrupted"), &json!(2)]);
}
