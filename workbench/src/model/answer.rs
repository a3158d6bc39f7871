//! What a provider answered: whether it is worth another try, how long it asks to wait, and its own words.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::web::retry_after;

/// Characters of a provider's words that are shown.
const LONGEST_WORDS: usize = 400;

/// Codes of a 429 that no wait mends: the account has spent what it may.
const SPENT: [&str; 2] = ["enforced_spend_limit_reached", "insufficient_quota"];

/// Kinds of errors that a later try may not meet.
const PASSING: [&str; 4] = ["rate_limit_error", "api_error", "timeout_error", "overloaded_error"];

/// A provider's answer with a status of success or refusal; overload and outage were tried again.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, whole.
    pub body: Bytes,
}

impl Answer {
    /// The provider's words about a refusal: the type and the message of its error, or the beginning of what it sent.
    pub fn words(&self) -> String {
        let document: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let words = words_of(&document).unwrap_or_else(|| match self.is_json() {
            true => self.body_text(),
            false => format!("no JSON, but “{}”", self.body_text()),
        });
        in_short(&words)
    }

    /// Status and words, as `status 529: overloaded_error: Overloaded`.
    pub(super) fn told(&self) -> String {
        match self.words() {
            words if words.is_empty() => format!("status {}", self.status),
            words => format!("status {}: {words}", self.status),
        }
    }

    /// Whether the same request may be served later: overload, outage, a conflict.
    pub(super) fn may_pass(&self) -> bool {
        match self.header("x-should-retry") {
            Some("true") => self.status >= 400,
            Some("false") => false,
            _ if self.status == 429 => !self.is_spent(),
            _ if self.status == 200 => self.error_kind().is_some_and(|kind| PASSING.contains(&kind.as_str())),
            _ => matches!(self.status, 408 | 409 | 500 | 502 | 503 | 504 | 529),
        }
    }

    /// How long the provider asks to wait.
    pub(super) fn asked_wait(&self) -> Option<Duration> {
        match self.header("retry-after-ms").and_then(|text| text.trim().parse().ok()) {
            Some(milliseconds) => Some(Duration::from_millis(milliseconds)),
            None => self.header(RETRY_AFTER.as_str()).and_then(|text| retry_after(text, SystemTime::now())),
        }
    }

    /// What is wrong with a success that should be a JSON document: a page of a gateway, half a document.
    pub(super) fn misread(&self) -> Option<String> {
        let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        // Some servers say nothing about what they send, or nothing exact.
        let is_labelled = kind.is_empty()
            || kind.ends_with("json")
            || matches!(kind.as_str(), "text/plain" | "application/octet-stream");
        match serde_json::from_slice::<IgnoredAny>(&self.body) {
            Ok(_) if is_labelled => None,
            Ok(_) => Some(format!("the answer is called `{kind}`, not JSON")),
            Err(error) if is_labelled => {
                Some(format!("the answer is no JSON ({error}): it starts with “{}”", self.beginning()))
            }
            Err(_) => Some(format!("the answer is `{kind}`, not JSON: it starts with “{}”", self.beginning())),
        }
    }

    /// The kind of the error that the body is, whatever the status says; nothing where it is none as the Messages API
    /// writes them.
    pub(super) fn error_kind(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Document<'a> {
            r#type: &'a str,
            error: Value,
        }
        let document: Document<'_> = serde_json::from_slice(&self.body).ok()?;
        let kind = document.error["type"].as_str().unwrap_or_default();
        (document.r#type == "error").then(|| kind.to_owned())
    }

    fn is_spent(&self) -> bool {
        let document: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let codes =
            [&document["error"]["details"]["error_code"], &document["error"]["code"], &document["error"]["type"]];
        codes.into_iter().filter_map(Value::as_str).any(|code| SPENT.contains(&code))
    }

    fn is_json(&self) -> bool {
        serde_json::from_slice::<IgnoredAny>(&self.body).is_ok()
    }

    fn body_text(&self) -> String {
        // Enough for the words, whatever its length.
        let end = self.body.len().min(LONGEST_WORDS * 4);
        String::from_utf8_lossy(&self.body[..end]).into_owned()
    }

    fn beginning(&self) -> String {
        on_one_line(&self.body_text()).chars().take(80).collect()
    }

    /// A header's value by its name in lower case; nothing where it is no text.
    pub(super) fn header(&self, name: &'static str) -> Option<&str> {
        self.headers.get(HeaderName::from_static(name)).and_then(|value| value.to_str().ok())
    }
}

/// Words of a server, as many as can be read, on one line, whatever it makes of them.
pub(super) fn in_short(words: &str) -> String {
    let words = on_one_line(words);
    match words.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Words of a server without its line feeds, which would begin lines that look like ours.
pub(super) fn on_one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `type: message` of an error document, in any of the forms that providers use.
fn words_of(document: &Value) -> Option<String> {
    let error = &document["error"];
    let message = [&error["message"], error, &document["message"], &document["detail"]];
    let message = message.into_iter().find_map(Value::as_str)?;
    match error["type"].as_str().or_else(|| error["code"].as_str()) {
        Some(kind) => Some(format!("{kind}: {message}")),
        None => Some(message.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Answer {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
        Answer { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) }
    }

    #[test]
    fn the_words_of_a_refusal() {
        let long = "x".repeat(LONGEST_WORDS + 1);
        let cut = format!("{}…", "x".repeat(LONGEST_WORDS));
        let table = [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "overloaded_error: Overloaded",
            ),
            (r#"{"error":{"code":"model_not_found","message":"no such\n model"}}"#, "model_not_found: no such model"),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"object":"error","message":"no"}"#, "no"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"odd":1}"#, r#"{"odd":1}"#),
            ("<h1>Bad  Gateway</h1>", "no JSON, but “<h1>Bad Gateway</h1>”"),
            (&format!(r#"{{"error":"{long}"}}"#), &cut),
        ];
        for (body, words) in table {
            assert_eq!(answer(400, &[], body).words(), words, "{body}");
        }
    }

    #[test]
    fn what_is_worth_another_try() {
        let again: Vec<u16> = (100..1000).filter(|status| answer(*status, &[], "").may_pass()).collect();
        assert_eq!(again, [408, 409, 429, 500, 502, 503, 504, 529]);
        let table = [
            (400, &[("x-should-retry", "true")][..], "", true),
            (529, &[("x-should-retry", "false")], "", false),
            (200, &[("x-should-retry", "true")], "", false),
            (200, &[], r#"{"type":"error","error":{"type":"overloaded_error"}}"#, true),
            (200, &[], r#"{"type":"error","error":{"type":"invalid_request_error"}}"#, false),
            (200, &[], r#"{"type":"message","error":{"type":"overloaded_error"}}"#, false),
            (
                429,
                &[],
                r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
                false,
            ),
            (429, &[], r#"{"error":{"code":"insufficient_quota"}}"#, false),
            (429, &[], r#"{"error":{"type":"rate_limit_error"}}"#, true),
        ];
        for (status, headers, body, passes) in table {
            assert_eq!(answer(status, headers, body).may_pass(), passes, "{status} {headers:?} {body}");
        }
    }

    #[test]
    fn the_wait_that_is_asked_for() {
        let table = [
            (&[("retry-after", "7")][..], Some(7000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(0)),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
            (&[("retry-after-ms", "soon"), ("retry-after", "7")], Some(7000)),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (headers, milliseconds) in table {
            assert_eq!(answer(429, headers, "").asked_wait(), milliseconds.map(Duration::from_millis), "{headers:?}");
        }
    }

    #[test]
    fn a_success_that_is_no_document() {
        let json = "content-type";
        let table = [
            (&[(json, "application/json; charset=utf-8")][..], "{}", ""),
            (&[], "[]", ""),
            (&[(json, "text/plain")], "{}", ""),
            (&[(json, "application/problem+json")], "{}", ""),
            (&[(json, "text/html")], "{}", "the answer is called `text/html`, not JSON"),
            (&[(json, "text/html")], "<h1>hi", "the answer is `text/html`, not JSON: it starts with “<h1>hi”"),
            (
                &[],
                "{\"a\":",
                "the answer is no JSON (EOF while parsing a value at line 1 column 5): it starts with “{\"a\":”",
            ),
        ];
        for (headers, body, problem) in table {
            assert_eq!(answer(200, headers, body).misread().unwrap_or_default(), problem, "{headers:?} {body}");
        }
    }
}
