//! The time of a script that counts against its limit.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// A clock that may be stopped: while a script waits for whoever answers its calls, when its waits are announced.
pub(in crate::sandbox) struct Clock {
    hand: Mutex<Hand>,
    moved: Notify,
}

#[derive(Clone, Copy)]
struct Hand {
    left: Duration,
    /// Since when it runs; nothing while it stands.
    since: Option<Instant>,
}

impl Clock {
    /// One that runs, and is over after `limit`.
    pub(in crate::sandbox) fn start(limit: Duration) -> Self {
        Self { hand: Mutex::new(Hand { left: limit, since: Some(Instant::now()) }), moved: Notify::new() }
    }

    /// Stops it.
    pub(super) fn stop(&self) {
        self.move_hand(|hand| Hand { left: hand.left_now(), since: None });
    }

    /// Lets it run again.
    pub(super) fn go_on(&self) {
        self.move_hand(|hand| Hand { since: hand.since.or_else(|| Some(Instant::now())), ..hand });
    }

    fn move_hand(&self, change: impl FnOnce(Hand) -> Hand) {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        *hand = change(*hand);
        drop(hand);
        self.moved.notify_one();
    }

    /// Comes back when the time is over.
    pub(in crate::sandbox) async fn over(&self) {
        loop {
            let hand = *self.hand.lock().unwrap_or_else(PoisonError::into_inner);
            let left = hand.left_now();
            if hand.since.is_some() && left.is_zero() {
                return;
            }
            let ran_out = async {
                match hand.since {
                    Some(_) => tokio::time::sleep(left).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = ran_out => {}
                () = self.moved.notified() => {}
            }
        }
    }
}

impl Hand {
    fn left_now(self) -> Duration {
        self.left.saturating_sub(self.since.map(|since| since.elapsed()).unwrap_or_default())
    }
}
