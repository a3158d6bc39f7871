//! The ledger of tool calls: a line each, written when the call ends, whatever becomes of its caller.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;

use crate::bounded_json;
use crate::events::{Event, Listener, RunKey};
use crate::results::faults::Faults;
use crate::results::format::{CallEnd, CallRecord, Fault};
use crate::results::store::{RunFolder, StoreError};

/// Longest arguments, errors and names of tools kept whole, in bytes of their JSON; of longer ones the beginning of the
/// text is kept. A run may make thousands of calls, and whoever reads its ledger has all of them in memory.
const KEPT_WHOLE: usize = 16 * 1024;
/// Memory that arguments may take which are kept whole, in bytes as [`bounded_json::weight`] guesses them.
const KEPT_MEMORY: u64 = 12 * KEPT_WHOLE as u64;
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
            tool: kept_text(std::mem::take(&mut self.tool)),
            arguments: kept(&self.arguments),
            ms: (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3,
            bytes: bytes as u64,
            outcome,
            error: error.map(kept_text),
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
    if arguments.len() > KEPT_WHOLE || bounded_json::weight(arguments) > KEPT_MEMORY {
        return Value::String(beginning(arguments));
    }
    serde_json::from_slice(arguments)
        .unwrap_or_else(|_| Value::String(kept_text(String::from_utf8_lossy(arguments).into_owned())))
}

/// A text as the ledger keeps it. As JSON a character may take six bytes.
fn kept_text(text: String) -> String {
    let is_short = text.len() <= KEPT_WHOLE / 6 || Value::from(text.as_str()).to_string().len() <= KEPT_WHOLE;
    if is_short { text } else { beginning(text.as_bytes()) }
}

/// The beginning of a long text, and its length.
fn beginning(text: &[u8]) -> String {
    format!("{}… ({} bytes)", String::from_utf8_lossy(&text[..BEGINNING.min(text.len())]), text.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jiff::Timestamp;

    use super::*;
    use crate::results::store::read_ledger;

    #[test]
    fn what_is_too_long_for_a_line_is_cut() {
        let text = |length: usize| Bytes::from(format!("\"{}\"", "x".repeat(length - 2)));
        let (short, long) = (text(KEPT_WHOLE), text(KEPT_WHOLE + 1));
        assert_eq!(kept(&Bytes::from_static(b"[1]")), serde_json::json!([1]));
        assert!(!kept(&short).to_string().contains(" bytes)"));
        assert_eq!(kept(&long), Value::String(format!("\"{}… (16385 bytes)", "x".repeat(BEGINNING - 1))));
    }

    /// The heaviest texts that are still kept whole.
    fn heaviest() -> [(&'static str, Bytes, String); 3] {
        let numbers = format!("[0{}]", ",0".repeat(1300));
        let control = "\u{1}".repeat(KEPT_WHOLE / 6 - 1);
        [
            ("long", format!("\"{}\"", "x".repeat(KEPT_WHOLE - 2)).into(), "x".repeat(KEPT_WHOLE - 2)),
            ("many values", numbers.into(), control.clone()),
            ("no JSON", control.clone().into(), control),
        ]
    }

    #[test]
    fn what_a_run_of_many_heavy_calls_writes_can_be_read() {
        for (what, arguments, text) in heaviest() {
            assert!(!kept(&arguments).to_string().contains(" bytes)") && kept_text(text.clone()) == text, "{what}");
            let results = tempfile::tempdir().unwrap();
            let folder = RunFolder::create(results.path(), "made-up", "loop", 1, Timestamp::UNIX_EPOCH).unwrap();
            let folder = Arc::new(folder);
            let key = RunKey { domain: "made-up".to_owned(), mode: "loop".to_owned(), number: 1 };
            let ledger = Ledger::new(key, Listener::new(|_| {}), Some(Arc::clone(&folder)));
            for _ in 0..2000 {
                ledger.open(Caller::default(), &text, &arguments).failed(CallEnd::Refused, &text);
            }
            ledger.check().unwrap();
            let read = read_ledger(folder.path()).map(|calls| calls.len()).map_err(|error| error.to_string());
            assert_eq!(read, Ok(2000), "{what}");
        }
    }

    #[test]
    fn what_looks_short_and_is_long_as_json_is_cut_too() {
        let numbers = Bytes::from(format!("[0{}]", ",0".repeat(2000)));
        for kept in [kept(&numbers), kept(&Bytes::from(vec![1; 4000])), Value::String(kept_text("\u{1}".repeat(4000)))]
        {
            assert!(kept.to_string().ends_with(" bytes)\""), "{kept}");
        }
    }
}
