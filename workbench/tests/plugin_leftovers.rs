//! Hundreds of faulty calls leave nothing behind. A file of its own: it counts what this process holds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/left_behind.rs"]
mod left_behind;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use faulty::{Faulty, Host, call, call_with, number};
use futures::future::join_all;
use left_behind::descriptors;
use tokio::time::timeout;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_faulty_calls_leave_nothing() {
    let faulty = Faulty::compiled(&[]);
    let host = Host::letting_through(0);
    // What the first worker makes this process open stays: the runtime's own.
    faulty.client(60, &host).await.stop().await;
    let before = (descriptors(), children(), entries(faulty.folder()));

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
    assert_eq!(children().len(), before.1.len() + 1, "one worker");
    client.stop().await;
    // Tasks that read what a worker printed end with it, and close what they held, a moment later.
    let closed = async {
        while descriptors() > before.0 {
            tokio::task::yield_now().await;
        }
    };
    let _or_the_count_says_so = timeout(Duration::from_secs(60), closed).await;
    // The first worker's may have been among those before.
    assert!(descriptors() <= before.0, "{} descriptors, and {} before", descriptors(), before.0);
    assert_eq!((children(), entries(faulty.folder())), (before.1, before.2));
}

/// Processes whose parent this is, ended ones that nobody waited for included.
fn children() -> BTreeSet<String> {
    let parent = format!("PPid:\t{}\n", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let of_us = |path: &Path| fs::read_to_string(path.join("status")).is_ok_and(|status| status.contains(&parent));
    processes.filter(|path| of_us(path)).map(|path| path.display().to_string()).collect()
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
