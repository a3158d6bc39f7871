//! The boundary of a plugin, with a real worker, a real library and everything that can go wrong.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use faulty::{Faulty, Host, call, number, start};
use futures::future::join_all;
use plugin_api::ToolError;
use workbench::plugin::CallOutcome;

const LONG: u64 = 60;

/// Long enough for what should not happen to happen.
async fn let_others_run() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn each_fault_costs_one_call_and_its_cause_is_named() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(LONG, &host).await;
    assert_eq!(client.tools().len(), 2);
    for (tool, cause) in [
        ("panic", "panic: index out of bounds"),
        ("abort", "abort"),
        ("exit", "called exit(0)"),
        ("exit_with_words", "called exit(3); its last words: giving up"),
        ("null", "segmentation fault"),
        ("overflow", "stack overflow"),
        ("memory", "out of memory: an allocation of 99 bytes failed"),
        ("close", "closed its channel"),
        ("garbage", "broke the protocol: "),
        ("no_reply", "its reply is not understood: "),
        ("bad_head", "its reply is not understood: "),
        ("bad_body", "answered something that is not JSON: "),
        ("bad_text", "answered something that is not JSON: "),
        ("bad_status", "refused the call: its status 77 is unknown"),
        ("bad_request", "refused the call: what is that?"),
    ] {
        match call(&client, tool).await {
            CallOutcome::Crashed(text) => assert!(text.starts_with(cause), "{tool}: {text}"),
            other => panic!("{tool}: {other:?}"),
        }
        assert_eq!(number(&client, "answer").await, 1, "after {tool}");
    }
    client.stop().await;
}

#[tokio::test]
async fn answers_refusals_and_noise() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(LONG, &host).await;
    let refusal = ToolError::new("no such object").with_code("http_404");
    assert_eq!(call(&client, "refusal").await, CallOutcome::ToolError(refusal));
    assert_eq!(number(&client, "noise").await, 1);
    assert_eq!(number(&client, "log").await, 1);
    assert_eq!(number(&client, "ask_with_null").await, 10, "null is refused, and harms nobody");
    assert_eq!(number(&client, "environment").await, 1, "the guard and nothing else");
    assert_eq!(number(&client, "input").await, 0, "standard input is not the channel");
    assert_eq!(host.ended.load(Ordering::SeqCst), 6);
    // The two streams of the worker are read by the way: what it printed may come a moment later.
    while !client.log().contains("{\"kind\":\"answer\"") || !client.log().contains("{\"kind\":\"failed\"") {
        tokio::task::yield_now().await;
    }
    assert!(client.log().contains("a line for the log\n"));
}

#[tokio::test]
async fn an_endless_call_is_killed_and_others_are_not_harmed() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(1, &host).await;
    let (looping, asking, ()) = tokio::join!(call(&client, "loop"), number(&client, "ask"), async {
        host.was_asked(2).await;
        host.gate.add_permits(1);
    });
    assert_eq!(looping, CallOutcome::TimedOut(1));
    assert_eq!(asking, 1, "asked again in the next worker");
}

#[tokio::test]
async fn the_clock_stands_while_a_call_waits_for_the_host() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(1, &host).await;
    let (asking, ()) = tokio::join!(number(&client, "ask"), async {
        host.was_asked(1).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        host.gate.add_permits(1);
    });
    assert_eq!(asking, 1);
    assert_eq!(host.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_in_flight_at_a_death_run_again_one_at_a_time() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(LONG, &host).await;
    let (asking, aborting, ()) = tokio::join!(
        join_all((0..7).map(|_| number(&client, "ask"))),
        async {
            host.was_asked(7).await;
            call(&client, "abort").await
        },
        async {
            host.was_asked(8).await;
            let_others_run().await;
            assert_eq!(host.asked.load(Ordering::SeqCst), 8, "the first is alone in the next worker");
            host.gate.add_permits(7);
        }
    );
    assert_eq!(aborting, CallOutcome::Crashed("abort".to_owned()));
    assert_eq!(asking, [1; 7]);
    assert_eq!(host.asked.load(Ordering::SeqCst), 14);
}

#[tokio::test]
async fn eight_calls_run_at_once_and_more_wait() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let client = faulty.client(LONG, &host).await;
    let (asking, ()) = tokio::join!(join_all((0..20).map(|_| number(&client, "ask"))), async {
        host.was_asked(8).await;
        let_others_run().await;
        assert_eq!(host.asked.load(Ordering::SeqCst), 8);
        host.gate.add_permits(20);
    });
    assert_eq!(asking.len(), 20);
}

#[tokio::test]
async fn a_library_that_cannot_be_used_says_why_and_what_to_do() {
    let host = Host::letting_through(0);
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libtext.so");
    std::fs::write(&text, "not a library").unwrap();
    for path in [&text, &folder.path().join("libnone.so")] {
        let error = start(path, LONG, &host).await.err().unwrap().to_string();
        assert!(error.starts_with(&format!("{} cannot be loaded as a plugin: ", path.display())), "{error}");
    }
    for (define, expected) in [
        ("-DABI=99", "speaks plugin ABI 99, this workbench speaks 1; rebuild it: cargo build -p faulty"),
        (
            "-DWIRE=\"2\"",
            "speaks plugin messages 2 (plugin-api 9.9.9), this workbench speaks 1; rebuild it: cargo build -p faulty",
        ),
        ("-DWITHOUT_CALL", "undefined symbol: workbench_call"),
        ("-DBAD_CONSTRUCTOR", "did not start: abort; its last words: constructors are code too"),
    ] {
        let faulty = Faulty::compiled(&[define]);
        let error = start(&faulty.library(), LONG, &host).await.err().unwrap().to_string();
        assert!(error.contains(expected), "{define}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_worker_outlives_its_client() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    let exists = |process: i64| Path::new(&format!("/proc/{process}")).exists();

    let client = faulty.client(LONG, &host).await;
    let process = number(&client, "process").await;
    assert!(exists(process));
    client.stop().await;
    assert!(!exists(process), "stop waits for the end");

    let client = faulty.client(LONG, &host).await;
    let process = number(&client, "process").await;
    let call = tokio::spawn(async move { call(&client, "loop").await });
    tokio::task::yield_now().await;
    call.abort();
    // Ends when the process is killed and waited for; hangs when it is left running or a zombie.
    while exists(process) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn the_worker_is_no_command() {
    let output = Command::new(env!("CARGO_BIN_EXE_workbench"))
        .args(["__plugin-worker", "library"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "error: __plugin-worker is started by the workbench itself and is no command\n");
}
