//! The ledger of tool calls: a line each, written when the call ends, whatever becomes of its caller.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::events::{Event, Listener, RunKey};
use crate::results::faults::Faults;
use crate::results::format::{CallEnd, CallRecord, Fault};
use crate::results::store::{RunFolder, StoreError};

/// Longest arguments and errors kept whole, in bytes; of longer ones the beginning of the text is kept.
const KEPT_WHOLE: usize = 64 * 1024;
/// How much of it.
const BEGINNING: usize = 1024;

/// Who makes a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Turn of the model, from 1; 0 outside a run.
    pub turn: u32,
    /// The script, from 1; `None` for the model itself.
    pub script: Option<u32>,
}

/// Keeps the calls of a run, or of a command without a run.
pub struct Ledger {
    key: RunKey,
    listener: Listener,
    folder: Option<Arc<RunFolder>>,
    nested: AtomicU32,
    faults: Faults,
    failure: Mutex<Option<StoreError>>,
}

impl Ledger {
    /// Tells `listener` of every call, and writes it down when there is a folder.
    pub fn new(key: RunKey, listener: Listener, folder: Option<Arc<RunFolder>>) -> Self {
        Self { key, listener, folder, nested: AtomicU32::new(0), faults: Faults::default(), failure: Mutex::new(None) }
    }

    /// Opens the line of a call that begins now.
    pub fn open(&self, caller: Caller, tool: &str, arguments: &Bytes) -> OpenCall<'_> {
        OpenCall {
            ledger: self,
            caller,
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            begun: Instant::now(),
            closed: false,
        }
    }

    /// Calls that scripts made; refused ones were not made.
    pub fn nested_calls(&self) -> u32 {
        self.nested.load(Ordering::Relaxed)
    }

    /// The calls in which the plugin died or did not end. A tool must answer whatever it is asked, so that is never the
    /// caller's fault.
    pub fn faults(&self) -> Vec<Fault> {
        self.faults.met()
    }

    /// The first line that could not be written. A run whose ledger has a hole must not go on.
    pub fn check(&self) -> Result<(), StoreError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn write(&self, call: CallRecord) {
        if call.script.is_some() && call.outcome != CallEnd::Refused {
            self.nested.fetch_add(1, Ordering::Relaxed);
        }
        if let (CallEnd::Crashed | CallEnd::TimedOut, Some(text)) = (call.outcome, &call.error) {
            self.faults.note(text);
        }
        if let Some(Err(error)) = self.folder.as_ref().map(|folder| folder.append_call(&call)) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        self.listener.emit(Event::CallEnded(self.key.clone(), call));
    }
}

/// A call under way. Dropped before it is closed, it is written down as abandoned: a script that was
/// killed still leaves its calls in the ledger.
#[must_use]
pub struct OpenCall<'a> {
    ledger: &'a Ledger,
    caller: Caller,
    tool: String,
    arguments: Bytes,
    begun: Instant,
    closed: bool,
}

impl OpenCall<'_> {
    /// The call was answered with so many bytes.
    pub fn answered(mut self, bytes: usize) {
        self.close(CallEnd::Answered, bytes, None);
    }

    /// The call failed; `message` is what its caller reads.
    pub fn failed(mut self, outcome: CallEnd, message: &str) {
        self.close(outcome, message.len(), Some(message.to_owned()));
    }

    fn close(&mut self, outcome: CallEnd, bytes: usize, error: Option<String>) {
        self.closed = true;
        self.ledger.write(CallRecord {
            turn: self.caller.turn,
            script: self.caller.script,
            tool: std::mem::take(&mut self.tool),
            arguments: kept(&self.arguments),
            ms: (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            bytes: bytes as u64,
            outcome,
            error: error.map(|text| if text.len() > KEPT_WHOLE { beginning(text.as_bytes()) } else { text }),
        });
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if !self.closed {
            self.close(CallEnd::Abandoned, 0, None);
        }
    }
}

/// Arguments as the ledger keeps them: their JSON, or a text when they are none or too long.
fn kept(arguments: &Bytes) -> Value {
    if arguments.len() > KEPT_WHOLE {
        return Value::String(beginning(arguments));
    }
    serde_json::from_slice(arguments).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(arguments).into_owned()))
}

/// The beginning of a long text, and its length.
fn beginning(text: &[u8]) -> String {
    format!("{}… ({} bytes)", String::from_utf8_lossy(&text[..BEGINNING]), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_a_line_is_cut() {
        let [short, long] = [KEPT_WHOLE, KEPT_WHOLE + 1].map(|length| Bytes::from(vec![b'1'; length]));
        assert_eq!(kept(&Bytes::from_static(b"[1]")), serde_json::json!([1]));
        assert!(!kept(&short).to_string().contains(" bytes)"));
        assert_eq!(kept(&long), Value::String(format!("{}… (65537 bytes)", "1".repeat(BEGINNING))));
    }
}
