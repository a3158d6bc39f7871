//! The web client of a domain: one engine, shared by all its runs and the verifier.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use url::Url;

use super::address::Address;
use super::cache::HotCache;
use super::cassette::CassetteError;
use super::entry::Entry;
use super::flights::Flights;
use super::headers::HeaderError;
use super::inject::{Injection, Injections};
use super::network::Network;
use super::policy::{self, Policy};
use super::retry::RetryPolicy;
use super::source::{Route, Source};
use super::supply::Supply;
use super::tally::Tally;
use super::{Answer, Counters, Expect, Origin, RawAnswer, WebError};
use crate::domain::manifest::ApiSection;
use crate::nearest::suggestion;
use crate::results::format::Fault;

/// What a client is made of.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// The domain's `[api]`.
    pub api: ApiSection,
    /// The domain's cassette, where it has one.
    pub cassette: Option<PathBuf>,
    /// Where this command gets its data from.
    pub source: Source,
    /// Whether the network is never used.
    pub offline: bool,
    /// Folder of the cache; each source has its own sub-folder.
    pub cache: PathBuf,
    /// Faults that stand in for answers; the first that applies wins.
    pub injections: Vec<Injection>,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// `[api] base` is no address.
    #[error("`[api] base` is `{base}`, which is not an http or https address: {reason}")]
    Base {
        /// What stands there.
        base: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A route leads away from a host the domain never asks.
    #[error(
        "`--route {route}` is for `{}`, which is not among the domain's `[api] hosts` ({}){}",
        route.host, policy::listed(hosts), suggestion(&route.host, hosts.iter().map(String::as_str))
    )]
    Route {
        /// The route.
        route: Box<Route>,
        /// The hosts the domain may ask, sorted.
        hosts: Vec<String>,
    },
    /// A header of `[api] headers` cannot be sent.
    #[error("`[api] headers` cannot be sent")]
    Header(#[from] HeaderError),
    /// The cassette cannot be read.
    #[error("the cassette cannot be used")]
    Cassette(#[from] CassetteError),
}

/// Fetches what a domain's tools and rules ask for. Cheap to clone; clones share cache, pace,
/// counters and injected faults.
#[derive(Clone)]
pub struct WebClient {
    engine: Arc<Engine>,
    tally: Arc<Tally>,
    injections: Arc<Injections>,
}

type Outcome = Result<(Arc<Entry>, Origin), WebError>;

struct Engine {
    policy: Policy,
    source: Source,
    supply: Supply,
    hot: HotCache,
    flights: Flights<Outcome>,
    /// Addresses with a permanent answer: what a recording keeps.
    answered: Mutex<BTreeSet<String>>,
}

impl WebClient {
    /// Makes the client of a domain.
    ///
    /// # Errors
    /// When `[api]` cannot be used or the cassette is wrong. Nothing is fetched yet.
    pub fn open(settings: WebSettings) -> Result<Self, SetupError> {
        Self::open_patiently(settings, RetryPolicy::default())
    }

    /// As [`Self::open`], with another patience.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_patiently(settings: WebSettings, retry: RetryPolicy) -> Result<Self, SetupError> {
        let WebSettings { api, cassette, source, offline, cache, injections } = settings;
        let base = api.base.as_deref().map(check_base).transpose()?;
        let policy = Policy::new(base, &api.hosts, source.routes());
        if let Some(route) = source.routes().iter().find(|route| !policy.allows(&route.host)) {
            return Err(SetupError::Route { route: Box::new(route.clone()), hosts: policy.hosts() });
        }
        let cache = cache.join(source.cache_folder());
        let body_bytes = api.body_mb.saturating_mul(1 << 20);
        let (source, supply) = match (source, cassette) {
            (Source::Cassette, Some(folder)) => (Source::Cassette, Supply::cassette(&folder, body_bytes)?),
            (source, _) => {
                let network = if offline { None } else { Some(Network::new(&api, policy.clone(), retry)?) };
                let source = if source == Source::Cassette { Source::Live } else { source };
                (source, Supply::cache(cache, body_bytes, network))
            }
        };
        let engine = Engine {
            policy,
            source,
            supply,
            hot: HotCache::default(),
            flights: Flights::new(),
            answered: Mutex::default(),
        };
        let injections = Arc::new(Injections::new(injections));
        Ok(Self { engine: Arc::new(engine), tally: Arc::default(), injections })
    }

    /// The same engine for another run: its requests are counted apart, also by the injections, so
    /// that every run meets the same faults.
    #[must_use]
    pub fn scoped(&self) -> Self {
        let injections = Arc::new(self.injections.anew());
        Self { engine: Arc::clone(&self.engine), tally: Arc::default(), injections }
    }

    /// The same run without injected faults, for who judges it: they are for tools only.
    #[must_use]
    pub fn uninjected(&self) -> Self {
        Self { injections: Arc::default(), ..self.clone() }
    }

    /// Where the data really come from: a domain without a cassette is served live.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.engine.source
    }

    /// What this handle and its clones have asked for.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.tally.counters()
    }

    /// The faults that [`Self::get`] of this handle and its clones has met; those that were injected
    /// are part of the experiment, and not among them. See [`WebError::is_fault`].
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        self.tally.faults()
    }

    /// The addresses, sorted, for which this engine has handed out a permanent answer that was not
    /// injected: what `record` fetches again, from the cache, and writes into a cassette.
    #[must_use]
    pub fn answered(&self) -> Vec<String> {
        self.engine.answered.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Whether [`Self::answered`] has this address, in normal form.
    #[must_use]
    pub fn has_answered(&self, url: &str) -> bool {
        self.engine.answered.lock().unwrap_or_else(PoisonError::into_inner).contains(url)
    }

    /// The answer of the API to a path on `[api] base`, or to a full address on one of its `hosts`.
    /// `query` is not yet encoded, and is added to what `path` brings along.
    ///
    /// # Errors
    /// When there is no answer with status 200 that fits `expect`; see [`WebError`].
    pub async fn get(&self, path: &str, query: &[(String, String)], expect: Expect) -> Result<Answer, WebError> {
        let address = self.engine.policy.resolve(path, query)?;
        let expect = expect.at(&address);
        let outcome = match self.entry(&address, expect).await {
            Ok((entry, Origin::Injected)) => return entry.answer(&address, Origin::Injected, expect),
            Ok((entry, origin)) => entry.answer(&address, origin, expect),
            Err(error) => Err(error),
        };
        outcome.inspect_err(|error| self.tally.told(error))
    }

    /// The answer as it is, of any status: for people who look, and for probes. It comes the same
    /// way as [`Self::get`]'s.
    ///
    /// # Errors
    /// When there is no answer at all; see [`WebError`].
    pub async fn fetch(&self, path: &str) -> Result<RawAnswer, WebError> {
        let address = self.engine.policy.resolve(path, &[])?;
        let (entry, origin) = self.entry(&address, Expect::Bytes.at(&address)).await?;
        Ok(entry.raw(&address, origin))
    }

    async fn entry(&self, address: &Address, expect: Expect) -> Outcome {
        if let Some(entry) = self.injections.answer(address) {
            return Ok((Arc::new(entry), Origin::Injected));
        }
        let (entry, origin) = match self.engine.hot.get(address.key()).filter(|entry| entry.is_permanent(expect)) {
            Some(entry) => (entry, self.engine.supply.origin()),
            None => {
                let work = self.engine.obtain(address, expect, &self.tally);
                let (outcome, was_ours) = self.engine.flights.join(address.key(), work).await;
                let (entry, origin) = outcome?;
                (entry, if was_ours { origin } else { self.engine.supply.origin() })
            }
        };
        if origin != Origin::Network {
            self.tally.hit();
        }
        if entry.is_permanent(expect) {
            self.engine.note(address);
        }
        Ok((entry, origin))
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebClient")
            .field("source", &self.engine.source)
            .field("counters", &self.counters())
            .finish()
    }
}

impl Engine {
    /// Gets what is not in memory; called once at a time for each address.
    async fn obtain(&self, address: &Address, expect: Expect, tally: &Tally) -> Outcome {
        let (entry, origin) = self.supply.get(address, expect, tally).await?;
        let entry = Arc::new(entry);
        if entry.is_permanent(expect) {
            self.hot.keep(address.key(), &entry);
        }
        Ok((entry, origin))
    }

    fn note(&self, address: &Address) {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if !answered.contains(address.key()) {
            answered.insert(address.key().to_owned());
        }
    }
}

fn check_base(base: &str) -> Result<String, SetupError> {
    let wrong = |reason: String| SetupError::Base { base: base.to_owned(), reason };
    let url = Url::parse(base).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(format!("its scheme is `{}`", url.scheme())));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it must end with its path".to_owned()));
    }
    Ok(base.to_owned())
}
