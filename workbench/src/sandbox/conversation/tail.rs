//! The output of a script: its last part is kept, the rest is counted.

use std::collections::VecDeque;

use crate::sandbox::Captured;

/// What both streams of a script may print together; an endless loop of prints ends here and not
/// at the time limit.
pub(in crate::sandbox) const FLOOD: u64 = 64 * 1024 * 1024;

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
