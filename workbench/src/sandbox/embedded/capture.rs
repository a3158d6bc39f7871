//! The output streams of a child process, read to their ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

use crate::sandbox::Captured;
use crate::sandbox::conversation::{FLOOD, Tail};

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
    let mut tail = Tail::new(keep);
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        gauge.add(read);
        tail.add(&chunk[..read]);
    }
    tail.text()
}
