//! Addresses in one normal form: what is asked for, and the key of cache and cassette.

use url::Url;

use super::WebError;
use crate::domain::authority;

/// The longest address an error shows with its query, in characters.
const SHOWN_CHARS: usize = 200;

/// The longest address that is asked for, in bytes: more than servers read, and less than what the client below cannot send.
/// What a model makes too long is its own mistake, and no fault of the network.
const LONGEST: usize = 32 * 1024;

/// A real address in normal form: query pairs sorted by name and value and form-urlencoded, no
/// fragment, no user name. Two ways of writing the same request are one address, one request, one
/// entry in cache and cassette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Reads a full address.
    ///
    /// # Errors
    /// [`WebError::NotAllowed`] when `text` is no `http` or `https` address, or carries a user name.
    pub fn parse(text: &str) -> Result<Self, WebError> {
        let url = Url::parse(text).map_err(|error| not_an_address(text, &error.to_string()))?;
        Self::from_url(url)
    }

    /// Resolves what a tool asks for: a path on `base`, or a full address. `query` is added to what
    /// `path` brings along.
    pub(super) fn resolve(base: Option<&str>, path: &str, query: &[(String, String)]) -> Result<Self, WebError> {
        let text = match (is_full(path), base) {
            (true, _) => path.to_owned(),
            (false, Some(base)) => on_base(base, path),
            (false, None) => return Err(not_an_address(path, "the domain has no `[api] base` for a relative path")),
        };
        let mut url = Url::parse(&text).map_err(|error| not_an_address(path, &error.to_string()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Self::from_url(url)
    }

    /// Where a redirect leads, seen from here.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, WebError> {
        let url = self.0.join(location).map_err(|error| not_an_address(location, &error.to_string()))?;
        Self::from_url(url)
    }

    fn from_url(mut url: Url) -> Result<Self, WebError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(not_an_address(url.as_str(), "only http and https can be asked for"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Neither can fail on an address with a host, and neither is shown to anybody.
            let _ = (url.set_username(""), url.set_password(None));
            return Err(not_an_address(url.as_str(), "an address must not carry a user name or password"));
        }
        url.set_fragment(None);
        let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if pairs.is_empty() {
            url.set_query(None);
        } else {
            pairs.sort();
            url.query_pairs_mut().clear().extend_pairs(pairs);
        }
        let address = Self(url);
        let length = address.key().len();
        if length > LONGEST {
            let reason = format!("the address has {length} bytes; at most {LONGEST} are asked for");
            return Err(WebError::NotAllowed { url: address.shown(), reason });
        }
        Ok(address)
    }

    /// The whole address: the key of cache and cassette.
    pub fn key(&self) -> &str {
        self.0.as_str()
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// Host name, with the port where it is not the usual one: what `hosts` and routes name.
    pub(super) fn authority(&self) -> String {
        authority::of(&self.0)
    }

    /// The address as an error shows it: of a very long one the query is left out, and the path cut.
    pub(super) fn shown(&self) -> String {
        let text = self.key();
        if text.len() <= SHOWN_CHARS {
            return text.to_owned();
        }
        let path = text.split('?').next().unwrap_or(text);
        super::words::shorten(path, SHOWN_CHARS)
    }
}

/// `scheme://…`; everything else is a path.
fn is_full(path: &str) -> bool {
    path.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    })
}

fn on_base(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    let path = path.trim_start_matches('/');
    if path.is_empty() || path.starts_with('?') { format!("{base}{path}") } else { format!("{base}/{path}") }
}

fn not_an_address(text: &str, reason: &str) -> WebError {
    WebError::NotAllowed { url: super::words::shorten(text, SHOWN_CHARS), reason: reason.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Path, query, key.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    const BASE: &str = "https://api.example.org/public/collection";

    fn key(path: &str, query: &[(&str, &str)]) -> String {
        let query: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Address::resolve(Some(BASE), path, &query).unwrap().key().to_owned()
    }

    #[test]
    fn resolves_paths_on_the_base() {
        let table: &[Case] = &[
            ("/v1/objects/1", &[], "https://api.example.org/public/collection/v1/objects/1"),
            ("v1/objects/1", &[], "https://api.example.org/public/collection/v1/objects/1"),
            ("//evil.example/x", &[], "https://api.example.org/public/collection/evil.example/x"),
            ("", &[], "https://api.example.org/public/collection"),
            ("/s?q=cat#top", &[("limit", "5")], "https://api.example.org/public/collection/s?limit=5&q=cat"),
            ("/s", &[("q", "a b"), ("d", "1|3")], "https://api.example.org/public/collection/s?d=1%7C3&q=a+b"),
            ("/s?q=a%20b", &[], "https://api.example.org/public/collection/s?q=a+b"),
            ("/s?b=2&a=2&a=1", &[], "https://api.example.org/public/collection/s?a=1&a=2&b=2"),
            ("/s?", &[], "https://api.example.org/public/collection/s"),
            ("/s?u=http://x/", &[], "https://api.example.org/public/collection/s?u=http%3A%2F%2Fx%2F"),
            ("https://IMAGES.example.org/a b.jpg", &[], "https://images.example.org/a%20b.jpg"),
        ];
        for (path, query, expected) in table {
            assert_eq!(key(path, query), *expected, "{path} {query:?}");
        }
    }

    #[test]
    fn a_key_is_the_same_in_every_order_and_its_own_key() {
        let awkward = ["", "a", "a b", "ü", "&", "=", "+", "%", "%41", "#", "?", "/", "\n", "日本"];
        for first in awkward {
            for second in awkward {
                let forward = key("/s", &[("x", first), ("y", second), ("x", second)]);
                let backward = key("/s", &[("x", second), ("y", second), ("x", first)]);
                assert_eq!(forward, backward);
                assert_eq!(Address::parse(&forward).unwrap().key(), forward);
                let pairs: Vec<_> = Url::parse(&forward).unwrap().query_pairs().into_owned().collect();
                assert!(pairs.contains(&("y".to_owned(), second.to_owned())), "{second:?} is lost in {forward}");
            }
        }
    }

    #[test]
    fn refuses_what_is_no_web_address() {
        for path in ["file:///etc/passwd", "ftp://api.example.org/x", "https://user@api.example.org/", "https://"] {
            let error = Address::resolve(Some(BASE), path, &[]).unwrap_err();
            assert!(matches!(error, WebError::NotAllowed { .. }), "{path}: {error}");
        }
        assert!(Address::resolve(None, "/v1", &[]).is_err());
        let secret = Address::parse("https://user:hush@api.example.org/").unwrap_err();
        assert!(!secret.to_string().contains("hush"), "{secret}");
    }

    #[test]
    fn an_address_that_nobody_can_send_is_refused() {
        let of = |length: usize| Address::resolve(Some(BASE), &"x".repeat(length - BASE.len() - 1), &[]);
        assert!(of(LONGEST).is_ok());
        assert!(matches!(of(LONGEST + 1), Err(WebError::NotAllowed { .. })));
    }

    #[test]
    fn a_long_query_is_not_shown() {
        let address = Address::resolve(Some(BASE), "/s", &[("q".to_owned(), "x".repeat(300))]).unwrap();
        assert_eq!(address.shown(), "https://api.example.org/public/collection/s");
    }
}
