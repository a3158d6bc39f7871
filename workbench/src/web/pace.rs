//! How fast an API is asked: one gap and one number of requests at once for the whole domain.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// The longest gap that is kept, whatever a manifest says.
const LONGEST_GAP: Duration = Duration::from_secs(3600);

/// The pace of one domain, shared by all its hosts and clients.
pub(super) struct Pacer {
    gap: Duration,
    slots: Semaphore,
    /// Who may start next: first come, first served.
    turn: tokio::sync::Mutex<()>,
    /// What the gap counts from.
    anchor: Mutex<Option<Instant>>,
}

impl Pacer {
    pub(super) fn new(gap: Duration, concurrency: usize) -> Self {
        let slots = Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS));
        Self { gap: gap.min(LONGEST_GAP), slots, turn: tokio::sync::Mutex::new(()), anchor: Mutex::new(None) }
    }

    /// Waits until fewer than `concurrency` requests are under way. Comes before [`Self::start`]:
    /// the other way round, requests that kept the gap would start together when a slot is freed.
    pub(super) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        self.slots.acquire().await.ok()
    }

    /// Waits until the gap has passed, and starts; returns when.
    pub(super) async fn start(&self) -> Instant {
        let _turn = self.turn.lock().await;
        // The anchor can move while this waits.
        while let Some(earliest) = self.earliest()
            && earliest > Instant::now()
        {
            sleep_until(earliest).await;
        }
        let now = Instant::now();
        *self.lock() = Some(now);
        now
    }

    /// Tells that the request of `start` is being answered. What starts here reaches the API a little
    /// later, and on a busy machine or a new connection later still, so the next one could come too
    /// close behind it there. A prompt answer shows by when it had arrived: the gap counts from then.
    /// Of an answer that takes longer nothing can be said, and it holds nobody up.
    pub(super) fn answered(&self, start: Instant) {
        let now = Instant::now();
        if now - start <= self.gap / 2 {
            let mut anchor = self.lock();
            *anchor = (*anchor).max(Some(now));
        }
    }

    fn earliest(&self) -> Option<Instant> {
        self.lock().map(|anchor| anchor + self.gap)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
