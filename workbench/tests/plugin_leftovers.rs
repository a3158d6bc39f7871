//! Hundreds of faulty calls leave nothing behind. A file of its own: it counts what this process holds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/left_behind.rs"]
mod left_behind;
#[path = "support/patience.rs"]
mod patience;
#[path = "support/processes.rs"]
mod processes;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use faulty::{Faulty, Host, call, call_with, number};
use futures::future::join_all;
use left_behind::{descriptors, leaves_no_file};
use patience::until;
use processes::children;
use workbench::plugin::CallOutcome;

/// Each is one way to fail; most of them cost the worker.
const FAULTS: &[(&str, &str)] = &[
    ("panic", "{}"),
    ("abort", "{}"),
    ("bad_body", "{}"),
    ("exit", "{}"),
    ("bad_status", "{}"),
    ("null", "{}"),
    ("no_reply", "{}"),
    ("forge", "not a frame\n"),
    ("refusal", "{}"),
    ("forge", "{\"kind\":\"answer\",\"id\":1,\"len\":0}\n"),
];

#[test]
fn five_hundred_faulty_calls_leave_nothing() {
    leaves_no_file("five_hundred_faulty_calls_leave_nothing", || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(five_hundred_faulty_calls());
    });
}

async fn five_hundred_faulty_calls() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    // What the first worker makes this process open stays: the runtime's own.
    faulty.client(60, &host).await.stop().await;
    let before = (descriptors(), of_us(), entries(faulty.folder()));

    let client = faulty.client(60, &host).await;
    for _ in 0..25 {
        for (tool, arguments) in FAULTS {
            let end = call_with(&client, tool, arguments).await;
            assert!(!matches!(end, CallOutcome::Answer(_) | CallOutcome::TimedOut(_)), "{tool}: {end:?}");
        }
        // And as a model calls them: several at once, in one worker.
        let ends = join_all(FAULTS.iter().map(|(tool, arguments)| call_with(&client, tool, arguments))).await;
        assert!(ends.iter().all(|end| !matches!(end, CallOutcome::Answer(_) | CallOutcome::TimedOut(_))), "{ends:?}");
    }
    assert_eq!(number(&client, "answer").await, 1);
    assert!(matches!(call(&client, "refusal").await, CallOutcome::ToolError(_)));
    assert_eq!(of_us().len(), before.1.len() + 1, "one worker");
    client.stop().await;
    // Tasks that read what a worker printed end with it, and close what they held, a moment later.
    // The first worker's may have been among those before.
    until("no descriptor is left open", || descriptors() <= before.0).await;
    assert_eq!((of_us(), entries(faulty.folder())), (before.1, before.2));
}

/// Processes whose parent this is, ended ones that nobody waited for included.
fn of_us() -> Vec<u32> {
    children(std::process::id()).into_iter().map(|child| child.id).collect()
}

fn entries(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(entries(&path));
        }
        found.insert(path.display().to_string());
    }
    found
}
