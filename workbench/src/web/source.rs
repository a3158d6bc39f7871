//! Where a command gets its data from: one source at a time.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use url::Url;

use super::cache::hex;
use crate::domain::authority;

/// The source of data of one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The domain's cassette; a domain without one is served by the network.
    #[default]
    Cassette,
    /// The network.
    Live,
    /// The network, with some hosts sent elsewhere.
    Routes(Vec<Route>),
}

impl Source {
    /// The sub-folder of the cache that belongs to this source, so that the answers of a test
    /// server never pass for those of the real one.
    pub(super) fn cache_folder(&self) -> String {
        match self {
            Self::Cassette | Self::Live => "live".to_owned(),
            Self::Routes(routes) => {
                let mut lines: Vec<String> = routes.iter().map(Route::to_string).collect();
                lines.sort();
                let digest = hex(&Sha256::digest(lines.join("\n").as_bytes()));
                format!("routes-{}", &digest[..16])
            }
        }
    }

    pub(super) fn routes(&self) -> &[Route] {
        match self {
            Self::Routes(routes) => routes,
            Self::Cassette | Self::Live => &[],
        }
    }
}

impl fmt::Display for Source {
    /// As `source` of `run.json`: `cassette`, `live`, or the routes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cassette => formatter.write_str("cassette"),
            Self::Live => formatter.write_str("live"),
            Self::Routes(routes) => {
                for (position, route) in routes.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(formatter, "{comma}{route}")?;
                }
                Ok(())
            }
        }
    }
}

/// `HOST=URL`: requests for a real host go to another address, a mirror or a test server. Path and
/// query are appended to the address; caches keep the real one as key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The real host, lower case; `host:port` where the port is not the usual one.
    pub host: String,
    /// Where its requests go.
    pub to: Url,
}

impl fmt::Display for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.host, self.to.as_str().trim_end_matches('/'))
    }
}

/// Why a text is no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a route: {reason}; expected HOST=URL, such as api.example.org=http://127.0.0.1:8099")]
pub struct RouteError {
    text: String,
    reason: String,
}

impl FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let refuse = |reason: String| RouteError { text: text.to_owned(), reason };
        let (host, to) = text.split_once('=').ok_or_else(|| refuse("it has no `=`".to_owned()))?;
        let host = host.trim();
        let host = authority::parse(host).ok_or_else(|| refuse(format!("`{host}` is not a host")))?;
        let to = Url::parse(to.trim()).map_err(|error| refuse(format!("`{to}` is not an address ({error})")))?;
        if !matches!(to.scheme(), "http" | "https") {
            return Err(refuse(format!("`{to}` is neither http nor https")));
        }
        if !to.username().is_empty() || to.password().is_some() {
            return Err(refuse("its address must not carry a user name or password".to_owned()));
        }
        if to.query().is_some() || to.fragment().is_some() {
            return Err(refuse(format!("`{to}` must end with its path")));
        }
        Ok(Self { host, to })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_routes() {
        let route: Route = "API.example.org=http://127.0.0.1:8099/".parse().unwrap();
        assert_eq!(route.to_string(), "api.example.org=http://127.0.0.1:8099");
        let route: Route = "api.example.org:443=http://127.0.0.1:8099".parse().unwrap();
        assert_eq!(route.host, "api.example.org", "the usual port is not named");
        let table = [
            ("api.example.org", "has no `=`"),
            ("=http://127.0.0.1", "not a host"),
            ("https://api.example.org=http://127.0.0.1", "not a host"),
            ("api.example.org=127.0.0.1:80", "not an address"),
            ("api.example.org=ftp://127.0.0.1", "neither http nor https"),
            ("api.example.org=http://127.0.0.1/?a=1", "must end with its path"),
            ("api.example.org=http://user:password@127.0.0.1", "user name or password"),
            ("api.example.org=http://user@127.0.0.1", "user name or password"),
            ("api.example.org=http://:password@127.0.0.1", "user name or password"),
        ];
        for (text, reason) in table {
            let error = text.parse::<Route>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn each_source_has_its_own_cache() {
        let routes = |texts: &[&str]| Source::Routes(texts.iter().map(|text| text.parse().unwrap()).collect());
        let first = routes(&["a.example=http://127.0.0.1:1", "b.example=http://127.0.0.1:1"]);
        let turned = routes(&["b.example=http://127.0.0.1:1", "a.example=http://127.0.0.1:1"]);
        assert_eq!(first.cache_folder(), turned.cache_folder());
        assert_ne!(first.cache_folder(), routes(&["a.example=http://127.0.0.1:2"]).cache_folder());
        assert_eq!(Source::Live.cache_folder(), "live");
        assert_eq!(first.to_string(), "a.example=http://127.0.0.1:1, b.example=http://127.0.0.1:1");
    }
}
