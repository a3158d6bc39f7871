//! Faults that are injected instead of an answer, to see what tools and modes make of them.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use reqwest::StatusCode;
use serde_json::json;

use super::address::Address;
use super::entry::Entry;
use crate::nearest::suggestion;

/// One injected fault: which requests it meets, and what they are answered.
///
/// Text form: `path=GLOB,status=410` with an optional `message=…`, or `path=GLOB,swallow=BODY`.
/// The glob (`*` any characters, `?` any one) is compared with the end of the path, and of the path
/// with its query. `after=30` spares the first 30 requests it meets in a run, `first=40` ends it after
/// the 40th. `message` and `swallow` take the rest of the text, commas included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    path: String,
    after: u64,
    first: u64,
    answer: Injected,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Injected {
    /// An error of the API, with its message.
    Status(StatusCode, Option<String>),
    /// Status 200 and this body in place of the answer.
    Swallow(String),
}

/// Why a text is no injection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not an injection: {reason}; expected path=GLOB,status=410 or path=GLOB,swallow=BODY, \
     where after=N and first=N choose among the requests it meets"
)]
pub struct InjectionError {
    text: String,
    reason: String,
}

impl fmt::Display for Injection {
    /// As it was written: a label of runs that met it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Injection {
    type Err = InjectionError;

    fn from_str(text: &str) -> Result<Self, InjectionError> {
        parse(text).map_err(|reason| InjectionError { text: text.to_owned(), reason })
    }
}

/// What an injection is made of.
const WORDS: [&str; 6] = ["path", "status", "message", "swallow", "after", "first"];

fn parse(text: &str) -> Result<Injection, String> {
    let (mut path, mut after, mut first) = ("*".to_owned(), 0, u64::MAX);
    let (mut status, mut message, mut swallow) = (None, None, None);
    let mut given = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, tail) = rest.split_once('=').ok_or_else(|| format!("`{rest}` has no `=`"))?;
        let (value, next) = match word {
            "message" | "swallow" => (tail, ""),
            _ => tail.split_once(',').unwrap_or((tail, "")),
        };
        if given.contains(&word) {
            return Err(format!("`{word}` is given twice"));
        }
        given.push(word);
        match word {
            "path" if value.is_empty() => return Err("its path is empty".to_owned()),
            "path" => path = value.to_owned(),
            "status" => status = Some(error_status(value)?),
            "message" => message = Some(value.to_owned()),
            "swallow" => swallow = Some(value.to_owned()),
            "after" => after = count(word, value)?,
            "first" => first = count(word, value).and_then(at_least_one)?,
            _ => return Err(format!("`{word}` is unknown{}", suggestion(word, WORDS))),
        }
        rest = next;
    }
    let answer = match (status, swallow) {
        (Some(status), None) => Injected::Status(status, message),
        (None, Some(body)) => Injected::Swallow(body),
        (None, None) => return Err("it has neither `status` nor `swallow`".to_owned()),
        (Some(_), Some(_)) => return Err("it has both `status` and `swallow`".to_owned()),
    };
    Ok(Injection { path, after, first, answer, text: text.to_owned() })
}

fn error_status(value: &str) -> Result<StatusCode, String> {
    let status = value.parse().ok().and_then(|code: u16| StatusCode::from_u16(code).ok());
    status
        .filter(|status| status.is_client_error() || status.is_server_error())
        .ok_or_else(|| format!("status `{value}` is not an error status (400 to 599)"))
}

fn count(word: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("{word} `{value}` is not a number"))
}

fn at_least_one(first: u64) -> Result<u64, String> {
    if first == 0 { Err("first `0` meets no request".to_owned()) } else { Ok(first) }
}

impl Injection {
    fn meets(&self, address: &Address) -> bool {
        let path = address.url().path();
        let with_query = address.url().query().map(|query| format!("{path}?{query}"));
        let pattern = format!("*{}", self.path);
        matches(&pattern, path) || with_query.is_some_and(|text| matches(&pattern, &text))
    }

    fn entry(&self) -> Entry {
        let (status, body) = match &self.answer {
            Injected::Status(status, message) => {
                let message = message.as_deref().or(status.canonical_reason()).unwrap_or("injected fault");
                (status.as_u16(), json!({ "message": message }).to_string())
            }
            Injected::Swallow(body) => (200, body.clone()),
        };
        Entry::checked(status, "application/json".to_owned(), Bytes::from(body))
    }
}

/// The injections of one run, with their counts. The first that applies wins; each counts its own
/// requests.
#[derive(Default)]
pub(super) struct Injections(Vec<(Injection, AtomicU64)>);

impl Injections {
    pub(super) fn new(injections: Vec<Injection>) -> Self {
        Self(injections.into_iter().map(|injection| (injection, AtomicU64::new(0))).collect())
    }

    /// The same injections, for another run: nothing is counted yet.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.0.iter().map(|(injection, _)| injection.clone()).collect())
    }

    /// What stands in for the answer of `address`, when something does.
    pub(super) fn answer(&self, address: &Address) -> Option<Entry> {
        self.0.iter().find_map(|(injection, met)| {
            if !injection.meets(address) {
                return None;
            }
            let number = met.fetch_add(1, Ordering::Relaxed) + 1;
            (injection.after < number && number <= injection.first).then(|| injection.entry())
        })
    }
}

/// Whether `text` as a whole is what `pattern` describes. Linear in the text for each `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, position));
                at += 1;
            }
            Some(letter) if *letter == b'?' || *letter == text[position] => {
                at += 1;
                position += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    position = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn reads_injections_and_names_what_is_wrong() {
        let swallow: Injection = r#"path=/v1.1/search*,swallow={"total":0,"objectIDs":null}"#.parse().unwrap();
        assert_eq!(swallow.answer, Injected::Swallow(r#"{"total":0,"objectIDs":null}"#.to_owned()));
        let gone: Injection = "path=/v1/search,status=410,after=2,message=Gone, for good".parse().unwrap();
        assert_eq!(gone.answer, Injected::Status(StatusCode::GONE, Some("Gone, for good".to_owned())));
        assert_eq!((gone.path.as_str(), gone.after), ("/v1/search", 2));
        let table = [
            ("", "neither `status` nor `swallow`"),
            ("path=/x", "neither `status` nor `swallow`"),
            ("status=200", "not an error status"),
            ("status=abc", "not an error status"),
            ("stauts=410", "`stauts` is unknown; did you mean `status`?"),
            ("status=410,status=500", "`status` is given twice"),
            ("status=410,first=0", "meets no request"),
            ("path=,status=410", "its path is empty"),
            ("path", "has no `=`"),
            ("after=x,status=410", "not a number"),
            ("status=410,swallow={}", "both"),
        ];
        for (text, reason) in table {
            let error = text.parse::<Injection>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn matches_the_end_of_path_and_query() {
        let address = Address::parse("https://api.example.org/public/v1/search?q=cat").unwrap();
        for (glob, expected) in [
            ("/v1/search", true),
            ("/v1/search*", true),
            ("/v1/search?q=cat", true),
            ("q=cat", true),
            ("/v?/search", true),
            ("/v1/*?q=*", true),
            ("*", true),
            ("/v1", false),
            ("/v1/search?q=dog", false),
        ] {
            let injection: Injection = format!("path={glob},status=410").parse().unwrap();
            assert_eq!(injection.meets(&address), expected, "{glob}");
        }
    }

    #[test]
    fn counts_the_requests_it_meets() {
        let injections = Injections::new(vec!["path=/x,status=503,after=1,first=3".parse().unwrap()]);
        let address = Address::parse("https://api.example.org/x").unwrap();
        let hit: Vec<bool> = (0..5).map(|_| injections.answer(&address).is_some()).collect();
        assert_eq!(hit, [false, true, true, false, false]);
    }
}
