//! What one run has asked for, and the faults it met on the way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Counters, WebError};
use crate::results::faults::Faults;
use crate::results::format::Fault;

/// An API that has not answered for so long counts as one that fails, when the run ends before its request does.
const SLOW: Duration = Duration::from_secs(10);

/// The counters of one client.
#[derive(Default)]
pub(super) struct Tally {
    network_calls: AtomicU64,
    cache_hits: AtomicU64,
    faults: Faults,
    /// Requests that have not come to an end, by address.
    under_way: Mutex<BTreeMap<String, Asked>>,
}

/// A request that has been sent at least once.
struct Asked {
    since: Instant,
    /// How the last try failed.
    failure: Option<String>,
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

    /// The request for `address` is sent.
    pub(super) fn asked(&self, address: &str) {
        self.under_way().entry(address.to_owned()).or_insert_with(|| Asked { since: Instant::now(), failure: None });
    }

    /// The request for `address` failed, and is not given up.
    pub(super) fn failed(&self, address: &str, failure: &WebError) {
        if let Some(asked) = self.under_way().get_mut(address) {
            asked.failure = Some(failure.to_string());
        }
    }

    /// The request for `address` came to an end, which its caller is told.
    pub(super) fn settled(&self, address: &str) {
        self.under_way().remove(address);
    }

    /// The faults that callers were told, and those of requests that have failed so far or are not answered for long:
    /// who asked may have ended, by a time limit, before they did.
    pub(super) fn faults(&self) -> Vec<Fault> {
        self.faults_of(SLOW)
    }

    fn faults_of(&self, slow: Duration) -> Vec<Fault> {
        let mut faults = self.faults.met();
        faults.extend(self.under_way().iter().filter_map(|(address, asked)| {
            let text = match &asked.failure {
                Some(failure) => format!("{failure} (not given up when the run ended)"),
                None if asked.since.elapsed() >= slow => {
                    format!("{address} had not answered for {} s when the run ended", asked.since.elapsed().as_secs())
                }
                None => return None,
            };
            Some(Fault { text, count: 1 })
        }));
        faults
    }

    fn under_way(&self) -> MutexGuard<'_, BTreeMap<String, Asked>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_an_end_is_a_fault_when_it_failed_or_is_slow() {
        let tally = Tally::default();
        let failure = WebError::Status { url: "https://a.example/1".to_owned(), status: 503, message: String::new() };
        for address in ["https://a.example/1", "https://a.example/2", "https://a.example/3"] {
            tally.asked(address);
        }
        tally.failed("https://a.example/1", &failure);
        tally.failed("https://a.example/2", &failure);
        tally.settled("https://a.example/2");
        let texts = |slow| tally.faults_of(slow).into_iter().map(|fault| fault.text).collect::<Vec<_>>();
        let failed = "https://a.example/1 returned HTTP 503 (not given up when the run ended)";
        let unanswered = "https://a.example/3 had not answered for 0 s when the run ended";
        assert_eq!(texts(Duration::MAX), [failed]);
        assert_eq!(texts(Duration::ZERO), [failed, unanswered]);
    }
}
