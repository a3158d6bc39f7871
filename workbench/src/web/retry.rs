//! When a request is worth another try, and how long to wait before it.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};

/// How patient a client is. The default suits public APIs; tests use shorter waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often one address is asked at most.
    pub tries: usize,
    /// How often at most, while no connection can be made: offline is told soon.
    pub connect_tries: usize,
    /// The first wait; each later one is twice as long, and up to as much again is added at random.
    pub first_wait: Duration,
    /// The longest wait, before the random part.
    pub longest_wait: Duration,
    /// No try starts later than this after the first. A `Retry-After` beyond it ends the tries.
    pub total: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 6,
            connect_tries: 3,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(16),
            // A request that used up the usual 60 seconds gets a second try.
            total: Duration::from_secs(75),
        }
    }
}

impl RetryPolicy {
    /// The waits between tries, in order.
    pub(super) fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        growing_waits(self.tries, self.first_wait, self.longest_wait)
    }
}

/// The waits between so many tries: each twice as long as the one before, up to the longest, and up to as much again at
/// random.
pub fn growing_waits(
    tries: usize,
    first: Duration,
    longest: Duration,
) -> impl Iterator<Item = Duration> + Send + use<> {
    ExponentialBuilder::default()
        .with_min_delay(first)
        .with_max_delay(longest)
        .with_max_times(tries.saturating_sub(1))
        .with_jitter()
        .build()
}

/// Whether a status is worth another try: overload and outage are, also those that only gateways and
/// content networks know (520 to 530); a refusal is not, nor is what the server cannot do at all.
pub(super) fn is_transient(status: u16, retry_403: bool) -> bool {
    match status {
        403 => retry_403,
        501 | 505 => false,
        _ => status == 429 || (500..600).contains(&status),
    }
}

/// A `Retry-After` value, in seconds or as a date, as the time from `now` on. Something else says nothing.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    httpdate::parse_http_date(value).ok().map(|until| until.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_retry_after_as_seconds_and_as_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
        let table = [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("18446744073709551616", Some(u64::MAX)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
            ("", None),
        ];
        for (value, seconds) in table {
            assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let policy = RetryPolicy::default();
        let waits: Vec<Duration> = policy.waits().collect();
        assert_eq!(waits.len(), policy.tries - 1);
        for (wait, least) in waits.iter().zip([1, 2, 4, 8, 16]) {
            let least = Duration::from_secs(least);
            assert!(*wait >= least && *wait <= least * 2, "{waits:?}");
        }
    }

    #[test]
    fn only_overload_and_outage_are_tried_again() {
        let again: Vec<u16> = (100..1000).filter(|status| is_transient(*status, false)).collect();
        let faults_of_servers = (500..600).filter(|status| ![501, 505].contains(status));
        assert_eq!(again, std::iter::once(429).chain(faults_of_servers).collect::<Vec<u16>>());
        assert!(is_transient(403, true));
    }
}
