//! All HTTP that is done for a domain: policy, pacing, retries, cache, cassette, injected faults.

mod address;
mod cache;
mod cassette;
mod client;
mod doors;
mod entry;
mod flights;
mod headers;
mod inject;
mod network;
mod pace;
mod policy;
mod proxy;
mod recorder;
mod retry;
mod source;
mod strict_json;
mod supply;
mod tally;
mod words;

use std::fmt;

use bytes::Bytes;

pub use address::Address;
pub use cassette::{Cassette, CassetteError, CassetteLine, Recording};
pub use client::{SetupError, WebClient, WebSettings};
pub use doors::use_ring;
pub use headers::HeaderError;
pub use inject::{Injection, InjectionError};
pub use recorder::{CassetteWriter, Known};
pub use retry::{RetryPolicy, growing_waits, retry_after};
pub use source::{Route, RouteError, Source};

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

/// An answer as it is, whatever its status and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAnswer {
    /// The real address in the form that keys caches and cassettes.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// Its `Content-Type`, or nothing.
    pub content_type: String,
    /// The body, decompressed; of an error status at most the first megabyte.
    pub body: Bytes,
    /// Where it came from.
    pub origin: Origin,
}

impl RawAnswer {
    /// The first words of the body, on one line and without markup.
    #[must_use]
    pub fn first_words(&self) -> String {
        words::first_words(&self.body)
    }
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The network, now.
    Network,
    /// The cache, on disk or in memory, or a request for the same address that was under way.
    Cache,
    /// The domain's cassette.
    Cassette,
    /// `--inject`.
    Injected,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Network => "network",
            Self::Cache => "cache",
            Self::Cassette => "cassette",
            Self::Injected => "injected fault",
        })
    }
}

/// What a caller can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A JSON document: the content type must say so, and the body is checked once.
    Json,
    /// Anything; but at an address that ends like a picture's, [`Self::Picture`].
    Bytes,
    /// Anything but a page: sites that take a client for a robot answer with one, whatever was asked for.
    Picture,
}

impl Expect {
    /// What can be read at `address`: one that ends like a picture's must not be answered with a page.
    fn at(self, address: &Address) -> Self {
        const PICTURES: [&str; 5] = ["jpg", "jpeg", "png", "gif", "webp"];
        let extension = address.url().path().rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_picture = PICTURES.iter().any(|known| known.eq_ignore_ascii_case(extension));
        if self == Self::Bytes && is_picture { Self::Picture } else { self }
    }
}

/// Counters of one client since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests sent, retries and redirects included.
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
    /// The address is not one this domain may ask for. Where an answer redirects to such a one, that is a
    /// [`WebError::BadAnswer`].
    #[error("{url} is not allowed: {reason}")]
    NotAllowed {
        /// What was asked for.
        url: String,
        /// Which rule forbids it.
        reason: String,
    },
    /// Neither cache nor cassette has it, and the network is not used.
    #[error("{url} is not recorded in the {source_name}, and the network is not used; {advice}")]
    NotRecorded {
        /// The real address.
        url: String,
        /// `cassette` or `cache`.
        source_name: &'static str,
        /// How to get it recorded.
        advice: String,
    },
    /// The cache or the cassette could not be read or written.
    #[error("the answer of {url} could not be kept or read: {reason}")]
    Storage {
        /// The real address.
        url: String,
        /// Which file, and what happened.
        reason: String,
    },
}

impl WebError {
    /// Whether this is a fault: of the API, of what lies before it, or of what is kept of it. An API that does not know
    /// what was asked for has answered, and an address that may not be asked for is the asker's own mistake; both say
    /// something about who asked. Refused access, haste and outage do not.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::NotAllowed { .. } => false,
            Self::Status { status, .. } => {
                !(400..500).contains(status) || matches!(status, 401 | 403 | 407 | 408 | 425 | 429)
            }
            Self::BadAnswer { .. } | Self::Unreachable { .. } | Self::NotRecorded { .. } | Self::Storage { .. } => true,
        }
    }
}

fn api_words(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
