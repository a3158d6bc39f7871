//! All HTTP that is done for a domain: policy, pacing, retries, cache, cassette, injected faults.

use bytes::Bytes;

/// An answer of the API with status 200.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The real address, whatever route was taken.
    pub url: String,
    /// Its `Content-Type`, or nothing.
    pub content_type: String,
    /// The body, decompressed. Shared, not copied.
    pub body: Bytes,
    /// Where it came from.
    pub origin: Origin,
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The network, now.
    Network,
    /// The cache on disk.
    Cache,
    /// The domain's cassette.
    Cassette,
    /// `--inject`.
    Injected,
}

/// What a caller can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A JSON document: the content type must say so, and the body is checked once.
    Json,
    /// Anything.
    Bytes,
}

/// Counters of one client since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests sent, retries included.
    pub network_calls: u64,
    /// Requests answered by cache or cassette.
    pub cache_hits: u64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The API answered with another status than 200. The text is its own.
    #[error("{url} returned HTTP {status}{}", api_words(.message))]
    Status {
        /// The real address.
        url: String,
        /// HTTP status.
        status: u16,
        /// The API's own message, shortened; empty when it sent none that can be read.
        message: String,
    },
    /// The answer cannot be used: wrong content type, broken JSON, too long, cut off.
    #[error("{url} {reason}")]
    BadAnswer {
        /// The real address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no answer: DNS, connection, TLS, time-out.
    #[error("{url} could not be reached: {reason}")]
    Unreachable {
        /// The real address.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The address is not one this domain may ask for.
    #[error("{url} is not allowed: {reason}")]
    NotAllowed {
        /// What was asked for.
        url: String,
        /// Which rule forbids it.
        reason: String,
    },
    /// Offline, and neither cache nor cassette has it.
    #[error("{url} is not recorded in the {source_name}, and the network is not used")]
    NotRecorded {
        /// The real address.
        url: String,
        /// `cassette` or `cache`.
        source_name: &'static str,
    },
}

fn api_words(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
