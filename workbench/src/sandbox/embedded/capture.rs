//! The output of a script: its last part is kept, the rest is counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

use crate::sandbox::Captured;

/// What both streams of a script may print together; an endless loop of prints ends here and not
/// at the time limit.
pub(super) const FLOOD: u64 = 64 * 1024 * 1024;

/// Counts what both streams printed and tells when it is too much.
#[derive(Clone, Default)]
pub(super) struct FloodGauge {
    printed: Arc<AtomicU64>,
    overflowed: Arc<Notify>,
}

impl FloodGauge {
    fn add(&self, bytes: usize) {
        let before = self.printed.fetch_add(bytes as u64, Ordering::Relaxed);
        if before <= FLOOD && before + bytes as u64 > FLOOD {
            self.overflowed.notify_one();
        }
    }

    /// Comes back when more than [`FLOOD`] bytes were printed.
    pub(super) async fn overflow(&self) {
        self.overflowed.notified().await;
    }
}

/// Reads `stream` to its end and keeps the last `keep` bytes. A stream that breaks off ends there.
pub(super) async fn capture(mut stream: impl AsyncRead + Unpin, keep: usize, gauge: FloodGauge) -> Captured {
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut dropped = 0;
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        gauge.add(read);
        tail.extend(&chunk[..read]);
        let surplus = tail.len().saturating_sub(keep);
        tail.drain(..surplus);
        dropped += surplus as u64;
    }
    // A character that was cut in two at the front is dropped whole.
    if dropped > 0 {
        let continuation = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        tail.drain(..continuation);
        dropped += continuation as u64;
    }
    Captured { text: String::from_utf8_lossy(tail.make_contiguous()).into_owned(), dropped }
}
