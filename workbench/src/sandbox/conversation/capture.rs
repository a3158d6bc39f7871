//! The output of a script: its last part is kept, the rest is counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

use crate::sandbox::Captured;

/// What both streams of a script may print together; an endless loop of prints ends here and not
/// at the time limit.
pub(in crate::sandbox) const FLOOD: u64 = 64 * 1024 * 1024;

/// Counts what both streams printed and tells when it is too much.
#[derive(Clone, Default)]
pub(in crate::sandbox) struct FloodGauge {
    printed: Arc<AtomicU64>,
    overflowed: Arc<Notify>,
}

impl FloodGauge {
    /// Counts.
    pub(in crate::sandbox) fn add(&self, bytes: usize) {
        let before = self.printed.fetch_add(bytes as u64, Ordering::Relaxed);
        if before <= FLOOD && before + bytes as u64 > FLOOD {
            self.overflowed.notify_one();
        }
    }

    /// Comes back when more than [`FLOOD`] bytes were printed.
    pub(in crate::sandbox) async fn overflow(&self) {
        self.overflowed.notified().await;
    }
}

/// Reads `stream` to its end and keeps the last `keep` bytes. A stream that breaks off ends there.
pub(in crate::sandbox) async fn capture(
    mut stream: impl AsyncRead + Unpin,
    keep: usize,
    gauge: FloodGauge,
) -> Captured {
    let mut tail = Tail::new(keep);
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        gauge.add(read);
        tail.add(&chunk[..read]);
    }
    tail.text()
}

/// The last bytes of a stream, and how many came before.
pub(in crate::sandbox) struct Tail {
    kept: VecDeque<u8>,
    keep: usize,
    dropped: u64,
}

impl Tail {
    /// Of nothing yet; the last `keep` bytes will be kept.
    pub(in crate::sandbox) fn new(keep: usize) -> Self {
        Self { kept: VecDeque::new(), keep, dropped: 0 }
    }

    /// What came next.
    pub(in crate::sandbox) fn add(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let surplus = self.kept.len().saturating_sub(self.keep);
        self.kept.drain(..surplus);
        self.dropped += surplus as u64;
    }

    /// As text; a character that was cut in two at the front is dropped whole.
    pub(in crate::sandbox) fn text(mut self) -> Captured {
        if self.dropped > 0 {
            let continuation = self.kept.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
            self.kept.drain(..continuation);
            self.dropped += continuation as u64;
        }
        Captured { text: String::from_utf8_lossy(self.kept.make_contiguous()).into_owned(), dropped: self.dropped }
    }
}
