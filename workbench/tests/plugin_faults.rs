//! What plugins do wrong: a row a fault. Each costs its own call, the cause is named, and the next call is answered.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/patience.rs"]
mod patience;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use faulty::{Faulty, Host, call, call_with, logged, number, number_of, start};
use workbench::plugin::CallOutcome;

const LONG: u64 = 60;

/// Faults in safe Rust: tool, arguments, how the cause begins.
const IN_RUST: &[(&str, &str, &str)] = &[
    (
        "panic",
        r#"{"index": 7}"#,
        "panic: index out of bounds: the len is 3 but the index is 7 (plugins/faulty/src/faults.rs:",
    ),
    ("panic_in_thread", "{}", "panic: a thread gave up"),
    ("abort", "{}", "abort"),
    ("call_exit", "{}", "called exit(0)"),
    ("overflow", "{}", "stack overflow"),
    #[cfg(target_os = "linux")]
    ("attempt", r#"{"deed": "stretch", "target": "out/long"}"#, "wrote a longer file than it may"),
    #[cfg(target_os = "linux")]
    ("overflow_in_thread", "{}", "segmentation fault"),
    #[cfg(target_os = "linux")]
    ("allocate", r#"{"gibibytes": 10}"#, "out of memory: an allocation of 10737418240 bytes failed"),
];

/// Faults at the boundary, and those that need C.
const IN_C: &[(&str, &str)] = &[
    ("panic", "panic: index out of bounds"),
    ("exit_with_words", "called exit(3); its last words: giving up"),
    ("null", "segmentation fault"),
    ("overflow", "stack overflow"),
    ("memory", "out of memory: an allocation of 99 bytes failed"),
    // Which of its threads meets the closed channel first is not the same each time.
    ("close", "abort; its last words: "),
    ("no_reply", "its reply is not understood: "),
    ("bad_head", "its reply is not understood: "),
    ("long_head", "its reply is not understood: the head of a message is over the limit of 1048576 bytes"),
    ("bad_body", "answered something that is not JSON: "),
    ("bad_text", "answered something that is not JSON: "),
    ("bad_status", "refused the call: its status 77 is unknown"),
    ("bad_request", "refused the call: what is that?"),
    ("long_answer", "refused the call: its answer of 268435457 bytes is over the limit of 268435456"),
];

#[tokio::test]
async fn each_fault_of_safe_rust_costs_one_call() {
    let faulty = Faulty::built().await;
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    for (tool, arguments, cause) in IN_RUST {
        match call_with(&client, tool, arguments).await {
            CallOutcome::Crashed(text) => assert!(text.starts_with(cause), "{tool}: {text}"),
            other => panic!("{tool}: {other:?}"),
        }
        assert_eq!(number(&client, "answer").await, 1, "after {tool}");
    }
}

#[tokio::test]
async fn each_fault_at_the_boundary_costs_one_call() {
    let faulty = Faulty::compiled(&[]);
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    for (tool, cause) in IN_C {
        match call(&client, tool).await {
            CallOutcome::Crashed(text) => assert!(text.starts_with(cause), "{tool}: {text}"),
            other => panic!("{tool}: {other:?}"),
        }
        assert_eq!(number(&client, "answer").await, 1, "after {tool}");
    }
}

#[tokio::test]
async fn a_call_that_hangs_is_killed() {
    let (in_rust, in_c) = (Faulty::built().await, Faulty::compiled(&[]));
    for (faulty, tool) in [(&in_rust, "loop_forever"), (&in_c, "loop")] {
        let client = faulty.client(1, &Host::letting_through(0)).await;
        assert_eq!(call(&client, tool).await, CallOutcome::TimedOut(1), "{tool}");
        assert_eq!(number(&client, "answer").await, 1, "after {tool}");
    }
}

#[tokio::test]
async fn what_is_too_much_for_a_log_or_a_reader_harms_nobody() {
    let faulty = Faulty::built().await;
    let client = faulty.client(LONG, &Host::letting_through(0)).await;
    assert_eq!(number(&client, "panic_later").await, 1);
    logged(&client, "too late to matter").await;
    assert_eq!(number(&client, "answer").await, 1, "by the same worker");

    assert_eq!(number_of(&client, "print_much", r#"{"megabytes": 100}"#).await, 1000);
    logged(&client, "line 1000 was the last\n").await;
    assert!(client.log().len() <= 64 * 1024, "the end is kept");

    let CallOutcome::Answer(long) = call_with(&client, "say_much", r#"{"megabytes": 50}"#).await else { panic!() };
    assert_eq!(long.len(), 50_000_002);
    assert_eq!(number(&client, "answer").await, 1);
}

/// What a forged frame does to the call that forged it: the first of a new client, so its number is 3.
enum Forged {
    /// The worker is stopped, and this is why.
    Breach(&'static str),
    /// The plugin has answered its own call with other words; that it answers twice is found out later.
    Answers(i64),
    /// Nothing.
    Harmless,
    /// The host waits for the rest of the frame until the call's time is up.
    Hangs,
}

const FORGED: &[(&str, Forged)] = &[
    ("not a frame\n", Forged::Breach("a frame's head is not understood: ")),
    ("\n", Forged::Breach("a frame's head is not understood: ")),
    ("{\"kind\":\"answer\",\"id\":3}\n", Forged::Breach("a frame's head is not understood: missing field `len`")),
    ("{\"kind\":\"answer\",\"id\":3,\"len\":-1}\n", Forged::Breach("a frame's head is not understood: ")),
    (
        "{\"kind\":\"answer\",\"id\":3,\"len\":9999999999999}\n",
        Forged::Breach("a frame of 9999999999999 bytes is over"),
    ),
    ("{\"kind\":\"answer\",\"id\":1,\"len\":0}\n", Forged::Breach("it answered call 1, which is not under way")),
    ("{\"kind\":\"answer\",\"id\":999,\"len\":0}\n", Forged::Breach("it answered call 999, which is not under way")),
    ("{\"kind\":\"refused\",\"id\":2,\"len\":0}\n", Forged::Breach("it answered call 2, which is not under way")),
    ("{\"kind\":\"ready\",\"len\":0}\n", Forged::Breach("it said twice that it is ready")),
    ("{\"kind\":\"answer\",\"id\":3,\"len\":10}\n\"answer\"\n7", Forged::Answers(7)),
    ("{\"kind\":\"request\",\"id\":77,\"call\":3,\"len\":29}\n{\"log\":{\"message\":\"forged\"}}\n", Forged::Harmless),
    ("{\"kind\":\"request\",\"id\":77,\"call\":99,\"len\":29}\n{\"log\":{\"message\":\"forged\"}}\n", Forged::Harmless),
    ("{\"kind\":\"request\",\"id\":77,\"call\":3,\"len\":8}\nwhat is?", Forged::Harmless),
    ("{\"kind\":\"answer\",\"id\":999,\"len\":100000000}\n", Forged::Hangs),
];

#[tokio::test]
async fn forged_frames_are_found_out_or_harm_nobody() {
    let faulty = Faulty::compiled(&[]);
    let long_head = format!("{{\"kind\":\"{}\"", "x".repeat(100_000));
    let table = FORGED.iter().map(|(frame, end)| (*frame, end));
    for (frame, end) in table.chain([(long_head.as_str(), &Forged::Breach("a frame's head of 65536 bytes has no end"))])
    {
        let seconds = if matches!(end, Forged::Hangs) { 1 } else { LONG };
        let client = faulty.client(seconds, &Host::letting_through(0)).await;
        match (call_with(&client, "forge", frame).await, end) {
            (CallOutcome::Crashed(text), Forged::Breach(cause)) => {
                assert!(text.starts_with(&format!("broke the protocol: {cause}")), "{frame}: {text}");
            }
            (CallOutcome::Answer(body), Forged::Answers(number)) => assert_eq!(body, number.to_string(), "{frame}"),
            (CallOutcome::Answer(body), Forged::Harmless) => assert_eq!(body, "1", "{frame}"),
            (CallOutcome::TimedOut(1), Forged::Hangs) => {}
            (other, _) => panic!("{frame}: {other:?}"),
        }
        assert_eq!(number(&client, "answer").await, 1, "after {frame}");
    }
}

/// A plugin that answers the call of another: the other gets what the plugin said, and no third call gets either.
#[tokio::test]
async fn answers_to_other_calls_do_not_spread() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(LONG, &host).await;
    let (asking, forging) = tokio::join!(number(&client, "ask"), async {
        host.was_asked(1).await;
        number_of(&client, "forge", "{\"kind\":\"answer\",\"id\":3,\"len\":11}\n\"answer\"\n70").await
    });
    assert_eq!((asking, forging), (70, 1));
    host.gate.add_permits(2);
    for _ in 0..20 {
        assert_eq!(number(&client, "answer").await, 1);
    }
}

/// A plugin that asks and does not listen: what it asks for waits, and does not pile up here. Bytes behind each request,
/// how many requests, and how many of them are served at once.
#[tokio::test]
async fn a_flood_of_requests_is_held_back() {
    let faulty = Faulty::compiled(&[]);
    for (bytes, requests, at_once) in [(0, 5000, 64), (64 << 20, 12, 7)] {
        let host = Host::letting_through(0);
        let client = faulty.client(LONG, &host).await;
        let message = format!("{{\"get_json\":{{\"path\":\"gate\",\"query\":[]}}}}\n{}", "x".repeat(bytes));
        let head = format!("{{\"kind\":\"request\",\"id\":77,\"call\":3,\"len\":{}}}\n", message.len());
        let flood = format!("{requests}\n{head}{message}");
        let (flooding, ()) = tokio::join!(number_of(&client, "flood", &flood), async {
            host.was_asked(at_once).await;
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            assert_eq!(host.asked.load(Ordering::SeqCst), at_once, "more wait until these are served");
            host.gate.add_permits(requests);
        });
        assert_eq!(flooding, 1);
        assert_eq!(number(&client, "answer").await, 1);
    }
}

/// Libraries in C that cannot be used: how they are compiled, and what is said about them.
const UNUSABLE: &[(&str, &str)] = &[
    ("-DABI=99", "speaks plugin ABI 99, this workbench speaks 1; rebuild it: cargo build -p faulty"),
    (
        "-DWIRE=\"1\"",
        "speaks plugin messages 1 (plugin-api 9.9.9), this workbench speaks 2; rebuild it: cargo build -p faulty",
    ),
    ("-DCOMPILER=\"rustc 1.0.0\"", "was built by rustc 1.0.0, this workbench by rustc 1."),
    ("-DCOMPILER=\"rustc 1.0.0\"", "; rebuild it: cargo build -p faulty"),
    ("-DWITHOUT_CALL", "undefined symbol: workbench_call"),
    ("-DBAD_CONSTRUCTOR", "did not start: abort; its last words: constructors are code too"),
    (
        "-DTOOL=\"run_python\"",
        "cannot be used: its tool `run_python` is the tool through which code mode runs scripts; ",
    ),
    ("-DTOOL=\"get-object\"", "its tool `get-object` is no name that Python can call; use letters, digits and `_`"),
    ("-DTOOL=\"log\"", "it has two tools `log`; rename one of them"),
    (
        "-DARGUMENTS=\"\\\"properties\\\":{\\\"from\\\":{}}\"",
        "the argument `from` of its tool `abort` is a word of Python's own, which cannot be a name; write `from_`",
    ),
    ("-DPANIC_AT_DESCRIBE", "did not start: panic: no schema (src/lib.rs:7)"),
    ("-Dworkbench_abi_version=other", "undefined symbol: workbench_abi_version"),
];

#[tokio::test]
async fn a_library_that_cannot_be_used_says_why_and_what_to_do() {
    let host = Host::letting_through(0);
    let folder = tempfile::tempdir().unwrap();
    let made = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let whole = Faulty::compiled(&[]);
    let bytes = fs::read(whole.library()).unwrap();
    let mut elsewhere = bytes.clone();
    // The processor, as an ELF file has it.
    elsewhere[18..20].copy_from_slice(&[0xf7, 0x00]);
    for (path, kind) in [
        (made("libtext.so", b"not a library"), "it is no library; "),
        (made("libempty.so", b""), "it is an empty file; "),
        (made("libmac.so", b"\xcf\xfa\xed\xfe\x0c\0\0\x01"), "it is a library of macOS; "),
        (made("libwindows.so", b"MZ\x90\0\x03"), "it is a library of Windows; "),
        (made("libelsewhere.so", &elsewhere), "it is a library for another processor, number 247 in ELF; "),
        (folder.path().join("libnone.so"), ""),
        (folder.path().to_owned(), ""),
    ] {
        let error = start(&path, LONG, &host).await.err().unwrap().to_string();
        assert!(error.starts_with(&format!("{} cannot be loaded as a plugin: ", path.display())), "{error}");
        assert!(error.contains(kind), "{error}");
        assert_eq!(error.ends_with(": build the plugin on this machine"), !kind.is_empty(), "{error}");
    }
    // Cut off anywhere: the loader says so, or dies of it.
    for (number, kept) in [16, 64, 1000, bytes.len() / 4, bytes.len() / 2, bytes.len() * 3 / 4].into_iter().enumerate()
    {
        let path = made(&format!("libcut{number}.so"), &bytes[..kept]);
        let error = start(&path, LONG, &host).await.err().map(|error| error.to_string()).unwrap_or_default();
        let named =
            [" cannot be loaded as a plugin: ", " did not start: bus error", " did not start: segmentation fault"];
        assert!(named.iter().any(|cause| error.contains(cause)), "{kept} bytes: {error}");
    }
    for (option, expected) in UNUSABLE {
        let faulty = Faulty::compiled(&[option]);
        let error = start(&faulty.library(), LONG, &host).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{option}: {error}");
    }
}

/// A domain whose tools are those of the plugin in Rust.
fn domain(home: &Path) {
    fs::create_dir_all(home.join("trial/rehearsal")).unwrap();
    let manifest = "[domain]\nname = \"trial\"\ntitle = \"Trial\"\nplugin = \"faulty\"\n\
                    [task]\npersona = \"You test tools.\"\nprompt = \"Call them all.\"\n[limits]\ntool_seconds = 2\n";
    fs::write(home.join("trial/domain.toml"), manifest).unwrap();
}

fn workbench(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_workbench"));
    program.args(arguments).arg("--results").arg(home.join("results")).current_dir(home);
    let output = program.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_call_by_hand_prints_what_a_model_would_read_and_ends_with_3() {
    let home = tempfile::tempdir().unwrap();
    domain(home.path());
    for (arguments, code, said) in [
        (&["abort"][..], 3, "ERROR: abort crashed: abort\n"),
        (&["call_exit"], 3, "ERROR: call_exit crashed: called exit(0)\n"),
        (&["loop_forever"], 3, "ERROR: loop_forever took longer than 2 s and was stopped\n"),
        (&["overflow"], 3, "ERROR: overflow crashed: stack overflow\n"),
        (
            &["panic", "index=3"],
            3,
            "ERROR: panic crashed: panic: index out of bounds: the len is 3 but the index is 3 (",
        ),
        (&["panic_later"], 0, "1\n"),
        (&["answer"], 0, "1\n"),
    ] {
        let (ended, stdout) = workbench(home.path(), &[&["call", "trial"], arguments].concat());
        assert_eq!(ended, Some(code), "{arguments:?}: {stdout}");
        assert!(stdout.starts_with(said), "{arguments:?}: {stdout}");
    }
}

#[cfg(feature = "embedded")]
#[test]
fn a_run_goes_on_after_every_fault() {
    let home = tempfile::tempdir().unwrap();
    domain(home.path());
    let policy = "from tools import *\n\
                  for tool, given in (panic, {'index': 9}), (abort, {}), (call_exit, {}), (overflow, {}), (answer, {}):\n\
                  \x20   try:\n        print(tool(**given))\n\
                  \x20   except ToolError as error:\n        print(error)\n";
    fs::write(home.path().join("trial/rehearsal/loop.py"), policy).unwrap();
    let (_, stdout) = workbench(home.path(), &["run", "trial", "--mode", "loop", "--format", "json"]);
    let record: serde_json::Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    let text = record["final_text"].as_str().unwrap();
    let place = text.find(" (").unwrap()..=text.find(')').unwrap();
    let text = format!("{}{}", &text[..*place.start()], &text[place.end() + 1..]);
    insta::assert_snapshot!(text);
    assert_eq!((&record["stop"], &record["tool_calls"]), (&"end_turn".into(), &5.into()));
}
