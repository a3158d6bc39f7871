//! Calls of a plugin, with a real worker and a real library. What plugins do wrong is in `plugin_faults.rs`, what they
//! may not do in `plugin_attempts.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/patience.rs"]
mod patience;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use faulty::{Faulty, Host, call, logged, number};
use futures::future::join_all;
use plugin_api::ToolError;
use workbench::plugin::CallOutcome;

const LONG: u64 = 60;

/// Long enough for what should not happen to happen.
async fn let_others_run() {
    tokio::time::sleep(Duration::from_millis(50)).await;
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
    assert_eq!(number(&client, "environment").await, 2, "the guard, the allocator's settings and nothing else");
    assert_eq!(number(&client, "input").await, 0, "standard input is not the channel");
    assert_eq!(host.ended.load(Ordering::SeqCst), 6);
    logged(&client, "{\"kind\":\"answer\"").await;
    logged(&client, "{\"kind\":\"failed\"").await;
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
        .args(["__plugin-worker", "library", "out"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "error: __plugin-worker is started by the workbench itself and is no command\n");
}
