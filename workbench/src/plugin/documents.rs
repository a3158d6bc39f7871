//! Documents that tools have fetched and that stay with the host, each until its call ends.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use plugin_api::ToolError;

/// Bytes that are kept for one call at once; a single document may be longer.
const BYTES_OF_A_CALL: usize = 512 * 1024 * 1024;

/// The documents by call; a handle is a place in the list.
#[derive(Debug, Default)]
pub(super) struct Documents {
    of_calls: Mutex<HashMap<u64, Vec<Bytes>>>,
}

impl Documents {
    /// Keeps a document and returns its handle.
    pub(super) fn keep(&self, call: u64, document: Bytes) -> Result<u64, ToolError> {
        let mut documents = self.lock();
        let list = documents.entry(call).or_default();
        let held: usize = list.iter().map(Bytes::len).sum();
        if held > 0 && held.saturating_add(document.len()) > BYTES_OF_A_CALL {
            let message = format!("this call holds {held} bytes of documents, and may hold {BYTES_OF_A_CALL}");
            return Err(ToolError::new(message).with_help("fetch fewer in one call"));
        }
        list.push(document);
        Ok(list.len() as u64 - 1)
    }

    /// The document behind a handle.
    pub(super) fn get(&self, call: u64, handle: u64) -> Result<Bytes, ToolError> {
        let documents = self.lock();
        let list = documents.get(&call).map_or(&[][..], Vec::as_slice);
        let document = usize::try_from(handle).ok().and_then(|place| list.get(place));
        document
            .cloned()
            .ok_or_else(|| ToolError::new(format!("this call fetched no document with the handle {handle}")))
    }

    /// The call has ended.
    pub(super) fn forget(&self, call: u64) {
        self.lock().remove(&call);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<Bytes>>> {
        self.of_calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_hoards_is_refused_and_others_are_not() {
        let documents = Documents::default();
        // Shared, and never touched: it takes no memory.
        let long = Bytes::from(vec![0; 200 * 1024 * 1024]);
        for handle in 0..2 {
            assert_eq!(documents.keep(1, long.clone()), Ok(handle));
        }
        let refused = documents.keep(1, long.clone()).unwrap_err();
        let message = "this call holds 419430400 bytes of documents, and may hold 536870912";
        assert_eq!(refused, ToolError::new(message).with_help("fetch fewer in one call"));
        assert_eq!(documents.keep(1, Bytes::from_static(b"short")), Ok(2));
        assert_eq!(documents.keep(2, long), Ok(0), "of another call");
        assert_eq!(documents.get(1, 2).unwrap(), "short");
        documents.forget(1);
        assert!(documents.get(1, 2).is_err() && documents.get(2, 1).is_err());
    }

    #[test]
    fn one_document_may_be_as_long_as_it_is() {
        let whole = Bytes::from(vec![0; BYTES_OF_A_CALL + 1]);
        assert_eq!(Documents::default().keep(1, whole), Ok(0));
    }
}
