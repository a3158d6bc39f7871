//! Single flight: whoever asks for what is being fetched already waits for that.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

type UnderWay<T> = HashMap<String, Arc<OnceCell<T>>>;

/// What is being fetched now, by key.
pub(super) struct Flights<T> {
    under_way: Mutex<UnderWay<T>>,
}

impl<T: Clone> Flights<T> {
    pub(super) fn new() -> Self {
        Self { under_way: Mutex::new(HashMap::new()) }
    }

    /// The outcome of `work`, or of the same work that is under way. The flag tells whether it was
    /// ours. When the caller that leads is dropped, the next one in line does its own work.
    pub(super) async fn join(&self, key: &str, work: impl Future<Output = T>) -> (T, bool) {
        let seat = Seat { flights: self, key, cell: Arc::clone(self.lock().entry(key.to_owned()).or_default()) };
        let mut led = false;
        let outcome = seat.cell.get_or_init(|| {
            led = true;
            work
        });
        (outcome.await.clone(), led)
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay<T>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One caller's place in a flight; the last to leave, also by being dropped, removes the flight.
struct Seat<'a, T: Clone> {
    flights: &'a Flights<T>,
    key: &'a str,
    cell: Arc<OnceCell<T>>,
}

impl<T: Clone> Drop for Seat<'_, T> {
    fn drop(&mut self) {
        let mut under_way = self.flights.lock();
        // The map's and this one: cells are only cloned under the lock.
        if Arc::strong_count(&self.cell) == 2 {
            under_way.remove(self.key);
        }
    }
}
