//! One answer as it is kept: checked once, then handed out untouched.

use bytes::Bytes;

use super::address::Address;
use super::words::{api_message, first_words};
use super::{Answer, Expect, Origin, RawAnswer, WebError, strict_json};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An answer of any status.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Bytes,
    json: Json,
    /// How often the API was asked for it; 1 unless it came from the network just now.
    tries: usize,
}

/// What is known about the body as a JSON document.
#[derive(Debug)]
enum Json {
    /// The content type does not say so.
    Other,
    Valid,
    /// The content type says so, the body does not: the reason.
    Broken(String),
}

impl Entry {
    /// An answer that enters: a body that should be JSON is checked, here and never again. A byte-order mark before
    /// it is left out, since JSON has none and its readers would stop at it.
    pub(super) fn checked(status: u16, content_type: String, mut body: Bytes) -> Self {
        let json = match is_json(&content_type) {
            false => Json::Other,
            true => {
                if body.starts_with(BYTE_ORDER_MARK) {
                    body = body.slice(BYTE_ORDER_MARK.len()..);
                }
                check_json(&body).map_or_else(Json::Broken, |()| Json::Valid)
            }
        };
        Self { status, content_type, body, json, tries: 1 }
    }

    /// An answer that was checked when it entered the cache.
    pub(super) fn trusted(status: u16, content_type: String, body: Bytes) -> Self {
        let json = if is_json(&content_type) { Json::Valid } else { Json::Other };
        Self { status, content_type, body, json, tries: 1 }
    }

    pub(super) fn tried(mut self, tries: usize) -> Self {
        self.tries = tries;
        self
    }

    /// Whether this is the API's last word for a caller who can read `expect`, so that every later
    /// run must see the same: status 404 or 410, or a 200 that can be read; and a body that is what
    /// its content type says. A page where JSON was expected is none: it is how sites turn away
    /// clients they take for robots, for a while.
    pub(super) fn is_permanent(&self, expect: Expect) -> bool {
        match (self.status, &self.json, expect) {
            (200, Json::Other, Expect::Json) | (_, Json::Broken(_), _) => false,
            (200, _, Expect::Picture) if is_page(&self.content_type) => false,
            (status, ..) => matches!(status, 200 | 404 | 410),
        }
    }

    /// The answer for a caller who can read `expect`.
    pub(super) fn answer(&self, address: &Address, origin: Origin, expect: Expect) -> Result<Answer, WebError> {
        if self.status != 200 {
            let message = match (api_message(&self.body), self.tries) {
                (message, 0..=1) => message,
                (message, tries) if message.is_empty() => format!("tried {tries} times"),
                (message, tries) => format!("{message} (tried {tries} times)"),
            };
            return Err(WebError::Status { url: address.shown(), status: self.status, message });
        }
        let fits = match expect {
            Expect::Json => self.require_json(),
            Expect::Picture if is_page(&self.content_type) => Err(self.unexpected("a picture")),
            Expect::Picture | Expect::Bytes => Ok(()),
        };
        fits.map_err(|reason| WebError::BadAnswer { url: address.shown(), reason })?;
        Ok(Answer {
            url: address.key().to_owned(),
            content_type: self.content_type.clone(),
            body: self.body.clone(),
            origin,
        })
    }

    fn require_json(&self) -> Result<(), String> {
        match &self.json {
            Json::Valid => Ok(()),
            Json::Broken(reason) => Err(reason.clone()),
            Json::Other => Err(self.unexpected("JSON")),
        }
    }

    fn unexpected(&self, expected: &str) -> String {
        let kind = match self.content_type.as_str() {
            "" => "a document without a content type",
            kind => kind,
        };
        let start = first_words(&self.body);
        format!("answered with {kind} where {expected} was expected; it starts with “{start}”")
    }

    pub(super) fn raw(&self, address: &Address, origin: Origin) -> RawAnswer {
        RawAnswer {
            url: address.key().to_owned(),
            status: self.status,
            content_type: self.content_type.clone(),
            body: self.body.clone(),
            origin,
        }
    }
}

/// `application/json` or `…+json`, parameters aside.
fn is_json(content_type: &str) -> bool {
    let essence = essence(content_type);
    essence == "application/json" || essence.ends_with("+json")
}

fn is_page(content_type: &str) -> bool {
    matches!(essence(content_type).as_str(), "text/html" | "application/xhtml+xml")
}

fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn check_json(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body)
        .map_err(|error| format!("answered with broken JSON: not UTF-8 after byte {}", error.valid_up_to()))?;
    if text.trim().is_empty() {
        return Err("answered with an empty body where JSON was expected".to_owned());
    }
    strict_json::check(text)
        .map_err(|error| format!("answered with broken JSON: {error}; it starts with “{}”", first_words(body)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn outcome(status: u16, content_type: &str, body: &str) -> String {
        let address = Address::parse("https://api.example.org/v1?q=cat").unwrap();
        let entry = Entry::checked(status, content_type.to_owned(), Bytes::copy_from_slice(body.as_bytes()));
        match entry.answer(&address, Origin::Network, Expect::Json) {
            Ok(answer) => format!("ok {}", answer.body.len()),
            Err(error) => error.to_string().replace("https://api.example.org/v1?q=cat", "URL"),
        }
    }

    #[test]
    fn only_json_passes_for_json() {
        let table = [
            (200, "application/json; charset=utf-8", "{}", "ok 2"),
            (200, "application/geo+json", "[1]\n", "ok 4"),
            (200, "application/json", "", "URL answered with an empty body where JSON was expected"),
            (
                200,
                "application/json",
                "{\"a\":\n[1,}",
                "URL answered with broken JSON: expected value at line 2 column 4; it starts with “{\"a\": [1,}”",
            ),
            (
                200,
                "text/html",
                "<h1>Hello</h1>",
                "URL answered with text/html where JSON was expected; it starts with “Hello”",
            ),
            (
                200,
                "",
                "{}",
                "URL answered with a document without a content type where JSON was expected; it starts with “{}”",
            ),
            (404, "application/json", r#"{"message":"no"}"#, "URL returned HTTP 404: no"),
            (403, "text/html", "<b>go away</b>", "URL returned HTTP 403"),
            (204, "", "", "URL returned HTTP 204"),
        ];
        for (status, content_type, body, expected) in table {
            assert_eq!(outcome(status, content_type, body), expected);
        }
    }
}
