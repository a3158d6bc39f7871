//! The last bytes of what a worker printed.

use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Keeps the end of a text that may be endless. Shared by whoever adds to it.
#[derive(Debug)]
pub(super) struct Tail {
    limit: usize,
    bytes: Mutex<Vec<u8>>,
}

impl Tail {
    /// Keeps `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, bytes: Mutex::default() }
    }

    /// Appends, and forgets from the front what is over the limit.
    pub(super) fn add(&self, more: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend_from_slice(more);
        // Cutting at twice the limit moves each byte once, not with every line.
        if bytes.len() > 2 * self.limit {
            let surplus = bytes.len() - self.limit;
            bytes.drain(..surplus);
        }
    }

    /// What is kept, as text.
    pub(super) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(self.limit)..]).into_owned()
    }

    /// Reads `stream` to its end into every one of `tails`.
    pub(super) async fn drain(mut stream: impl AsyncRead + Unpin, tails: &[&Self]) {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            tails.iter().for_each(|tail| tail.add(&buffer[..length]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn keeps_the_end() {
        let tail = Tail::new(4);
        for piece in ["ab", "cdef", "g", "", "hi"] {
            tail.add(piece.as_bytes());
        }
        assert_eq!(tail.text(), "fghi");
    }
}
