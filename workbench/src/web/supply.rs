//! Where answers come from that are not in memory: the cassette, or cache and network.

use std::path::{Path, PathBuf};

use super::address::Address;
use super::cache::DiskCache;
use super::cassette::{Cassette, CassetteError};
use super::entry::Entry;
use super::network::Network;
use super::tally::Tally;
use super::{Expect, Origin, WebError};

/// One source of data.
pub(super) enum Supply {
    /// What is not recorded is not there: the network is never used.
    Cassette {
        cassette: Cassette,
        /// The most a body may have.
        body_bytes: u64,
    },
    /// Without a network, the cache is all there is.
    Cache { cache: DiskCache, network: Option<Box<Network>> },
}

impl Supply {
    pub(super) fn cassette(folder: &Path, body_bytes: u64) -> Result<Self, CassetteError> {
        Ok(Self::Cassette { cassette: Cassette::open(folder)?, body_bytes })
    }

    pub(super) fn cache(folder: PathBuf, body_bytes: u64, network: Option<Network>) -> Self {
        Self::Cache { cache: DiskCache::open(folder, body_bytes), network: network.map(Box::new) }
    }

    /// The answer for `address`, and where it came from; requests sent are counted in `tally`. What is
    /// kept and does not fit `expect` is asked for again.
    pub(super) async fn get(
        &self,
        address: &Address,
        expect: Expect,
        tally: &Tally,
    ) -> Result<(Entry, Origin), WebError> {
        match self {
            Self::Cassette { cassette, body_bytes } => {
                let entry = recorded(cassette, address, *body_bytes).await?;
                Ok((entry, Origin::Cassette))
            }
            Self::Cache { cache, network } => {
                if let Some(entry) = read(cache, address, expect).await? {
                    return Ok((entry, Origin::Cache));
                }
                let network = network.as_ref().ok_or_else(|| not_cached(address))?;
                let entry = network.ask(address, tally).await?;
                Ok((keep(cache, address, expect, entry).await?, Origin::Network))
            }
        }
    }

    /// Where an answer came from that is in memory.
    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Cassette { .. } => Origin::Cassette,
            Self::Cache { .. } => Origin::Cache,
        }
    }
}

async fn recorded(cassette: &Cassette, address: &Address, limit: u64) -> Result<Entry, WebError> {
    let recording = cassette.find(address.key()).ok_or_else(|| not_recorded(address))?;
    blocking(address, move || {
        let body = recording.body(limit).map_err(|error| error.to_string())?;
        Ok(Entry::checked(recording.line.status, recording.line.content_type, body))
    })
    .await
}

async fn read(cache: &DiskCache, address: &Address, expect: Expect) -> Result<Option<Entry>, WebError> {
    let (cache, key) = (cache.clone(), address.key().to_owned());
    blocking(address, move || cache.read(&key, expect)).await
}

/// Keeps what is permanent; anything else goes to the caller only.
async fn keep(cache: &DiskCache, address: &Address, expect: Expect, entry: Entry) -> Result<Entry, WebError> {
    if !entry.is_permanent(expect) {
        return Ok(entry);
    }
    let (cache, key) = (cache.clone(), address.key().to_owned());
    blocking(address, move || cache.keep(&key, expect, entry)).await
}

/// Runs file work where it does not hold up other requests.
async fn blocking<T: Send + 'static>(
    address: &Address,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, WebError> {
    let outcome = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()));
    outcome.map_err(|reason| WebError::Storage { url: address.shown(), reason })
}

fn not_recorded(address: &Address) -> WebError {
    WebError::NotRecorded {
        url: address.shown(),
        source_name: "cassette",
        // A tool hands it on: it must not tell runs apart by what a user typed.
        advice: "`workbench record` records what the domain's tasks ask for, `--live` asks the API".to_owned(),
    }
}

fn not_cached(address: &Address) -> WebError {
    WebError::NotRecorded {
        url: address.shown(),
        source_name: "cache",
        advice: "run the same command once without `--offline` to fill it".to_owned(),
    }
}
