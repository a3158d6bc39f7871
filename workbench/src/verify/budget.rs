//! What reading the evidence of one verdict may cost in all. Each file has limits of its own, but `each` may name a
//! thousand of them, or one of them a thousand times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::evidence::Lack;

/// Bytes of memory that the values of all evidence may take.
const MEMORY: u64 = 256 << 20;
/// Bytes of all pictures when decoded. They are decoded one by one and not kept: this bounds time.
const DECODED: u64 = 8 << 30;
/// Processor time that parsing one page and searching it may take; a tag of a million attributes would take hours. By the
/// clock on the wall a verdict would depend on what else the machine has to do.
const PAGE: Duration = Duration::from_secs(5);
/// The same of all pages.
const PAGES: Duration = Duration::from_secs(60);

/// The same of all that `value` makes.
const VALUES: Duration = Duration::from_secs(60);

/// What is left.
#[derive(Debug)]
pub(super) struct Budget {
    memory: AtomicU64,
    records: AtomicU64,
    decoded: AtomicU64,
    /// Milliseconds for pages.
    pages: AtomicU64,
    /// Milliseconds for values.
    values: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            memory: MEMORY.into(),
            records: MEMORY.into(),
            decoded: DECODED.into(),
            pages: (PAGES.as_millis() as u64).into(),
            values: (VALUES.as_millis() as u64).into(),
        }
    }
}

impl Budget {
    /// Takes the memory that the value read from `name` needs.
    pub(super) fn keep(&self, name: &str, bytes: u64) -> Result<(), Lack> {
        let text = || format!("{name} is not read: all evidence may take {} MB of memory", MEMORY >> 20);
        if spend(&self.memory, bytes) { Ok(()) } else { Err(Lack::Missing(text())) }
    }

    /// Takes the memory of a record that was fetched from `path`, which is kept for `evidence.json` even when no rule can
    /// use it.
    pub(super) fn record(&self, path: &str, bytes: u64) -> Result<(), String> {
        let text = || format!("{path} is not kept: all records may take {} MB of memory", MEMORY >> 20);
        if spend(&self.records, bytes) { Ok(()) } else { Err(text()) }
    }

    /// Takes what decoding the picture `name` needs.
    pub(super) fn decode(&self, name: &str, bytes: u64) -> Result<(), Lack> {
        let text = || format!("{name} is not read: all pictures may have {} MB when decoded", DECODED >> 20);
        if spend(&self.decoded, bytes) { Ok(()) } else { Err(Lack::Missing(text())) }
    }

    /// Does what takes time with one page, all of it in this thread.
    pub(super) fn page<T>(&self, work: impl FnOnce(&Patience) -> T) -> T {
        timed(&self.pages, PAGE, work)
    }

    /// Makes the values of one entry, all of them in this thread.
    pub(super) fn values<T>(&self, work: impl FnOnce(&Patience) -> T) -> T {
        timed(&self.values, VALUES, work)
    }

    /// Why the entry `name` was not made.
    pub(super) fn no_time_for(name: &str) -> String {
        format!("{name} is not made: all values may take {} seconds of processor time", VALUES.as_secs())
    }
}

/// Does the work with what is left of this time, at most `most`, and takes what it needed.
fn timed<T>(milliseconds: &AtomicU64, most: Duration, work: impl FnOnce(&Patience) -> T) -> T {
    let left = Duration::from_millis(milliseconds.load(Ordering::Relaxed));
    let start = worked();
    let done = work(&Patience::of(most.min(left)));
    let taken = worked().saturating_sub(start).as_millis() as u64;
    let left = |before: u64| Some(before.saturating_sub(taken));
    // Never fails: the closure always answers.
    let _before = milliseconds.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
    done
}

fn spend(left: &AtomicU64, amount: u64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount)).is_ok()
}

/// How long this thread may have worked when something has to be done.
#[derive(Debug)]
pub(super) struct Patience(Duration);

impl Patience {
    /// So much processor time from now on.
    pub(super) fn of(time: Duration) -> Self {
        Self(worked() + time)
    }

    /// Whether it has taken too long already.
    pub(super) fn is_over(&self) -> bool {
        worked() > self.0
    }
}

/// The processor time this thread has taken so far.
fn worked() -> Duration {
    // A clock that counts from zero is never negative.
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

#[cfg(test)]
impl Budget {
    /// One whose time is spent.
    pub(super) fn without_time() -> Self {
        Self { pages: 0.into(), values: 0.into(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        let budget = Budget::default();
        let refusals =
            [budget.keep("a", MEMORY), budget.keep("b", 1), budget.decode("c", DECODED), budget.decode("d", 1)];
        let lack = |text: &str| Err(Lack::Missing(text.to_owned()));
        let expected = [
            Ok(()),
            lack("b is not read: all evidence may take 256 MB of memory"),
            Ok(()),
            lack("d is not read: all pictures may have 8192 MB when decoded"),
        ];
        assert_eq!(refusals, expected);
        assert_eq!(budget.record("/e", MEMORY), Ok(()), "records are counted apart");
        assert!(budget.record("/f", 1).is_err());
        let spent = Budget::without_time();
        // Ends at once; with patience left it would go on for seconds, and the test with it.
        spent.page(|patience| while !patience.is_over() {});
        spent.values(|patience| while !patience.is_over() {});
    }
}
