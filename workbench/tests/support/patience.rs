//! Waiting for what must come: a test that waits in vain fails and says for what.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::time::{Duration, Instant};

/// Longest time anything may take before a test says that it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Waits until `is_so`.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        bear(what, begun);
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// As [`wait_until`], for a test whose other tasks go on meanwhile.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        bear(what, begun);
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

#[track_caller]
fn bear(what: &str, begun: Instant) {
    assert!(begun.elapsed() < PATIENCE, "still not so: {what}");
}
