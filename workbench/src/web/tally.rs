//! What one run has asked for, and the faults it met on the way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Counters, WebError};
use crate::results::faults::Faults;
use crate::results::format::Fault;

/// The counters of one client.
#[derive(Default)]
pub(super) struct Tally {
    network_calls: AtomicU64,
    cache_hits: AtomicU64,
    faults: Faults,
    /// Requests that failed and will be tried again: by address, the failure.
    trouble: Mutex<BTreeMap<String, String>>,
}

impl Tally {
    pub(super) fn sent(&self) {
        self.network_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn hit(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counters(&self) -> Counters {
        Counters {
            network_calls: self.network_calls.load(Ordering::Relaxed),
            cache_hits: self.cache_hits.load(Ordering::Relaxed),
        }
    }

    /// Counts what a caller was told, when it is a fault.
    pub(super) fn told(&self, error: &WebError) {
        if error.is_fault() {
            self.faults.note(&error.to_string());
        }
    }

    /// The request for `address` failed, and is not given up.
    pub(super) fn in_trouble(&self, address: &str, failure: &WebError) {
        self.trouble().insert(address.to_owned(), failure.to_string());
    }

    /// The request for `address` came to an end, which its caller is told.
    pub(super) fn settled(&self, address: &str) {
        self.trouble().remove(address);
    }

    /// The faults that callers were told, and those of requests that have failed so far: who asked may have ended, by
    /// a time limit, before they were given up.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.met();
        let unsettled = |text: &String| Fault { text: format!("{text} (not given up when the run ended)"), count: 1 };
        faults.extend(self.trouble().values().map(unsettled));
        faults
    }

    fn trouble(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
