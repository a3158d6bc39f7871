//! Asking an API whether it is healthy, as its manifest says that shows: the section `probes`, and what is asked before
//! runs that use the network.

use std::collections::BTreeMap;

use futures::future::join_all;
use minijinja::value::Serde;

use super::Section;
use crate::bounded_json;
use crate::domain::Domain;
use crate::domain::manifest::Probe;
use crate::expression;
use crate::report::table::grouped;
use crate::web::{RawAnswer, WebClient, WebError};

/// Memory that the answer to a probe may take as JSON, in bytes.
const ANSWER_MEMORY: u64 = 128 << 20;

/// What became of a probe.
#[derive(Clone, Debug)]
pub enum Health {
    /// The answer is as expected.
    Healthy(RawAnswer),
    /// There is an answer, and it is not as expected: why.
    Unhealthy(RawAnswer, String),
    /// There is no answer.
    NoAnswer(WebError),
}

/// Asks one probe.
pub async fn ask(web: &WebClient, probe: &Probe) -> Health {
    let answer = match web.fetch(&probe.get).await {
        Ok(answer) => answer,
        Err(error) => return Health::NoAnswer(error),
    };
    match expression::truth(&probe.expect, seen(&answer)) {
        Ok(true) => Health::Healthy(answer),
        Ok(false) => Health::Unhealthy(answer, format!("`{}` is false", probe.expect)),
        Err(error) => Health::Unhealthy(answer, error.to_string()),
    }
}

/// What an expectation can name. An answer that is no JSON has no `json`.
fn seen(answer: &RawAnswer) -> minijinja::Value {
    let mut names = BTreeMap::from([
        ("status", minijinja::Value::from(answer.status)),
        ("text", minijinja::Value::from(String::from_utf8_lossy(&answer.body).into_owned())),
    ]);
    if let Ok(json) = bounded_json::parse::<serde_json::Value>(&answer.body, ANSWER_MEMORY) {
        names.insert("json", minijinja::Value::from(Serde(json)));
    }
    minijinja::Value::from(names)
}

/// Asks all probes of a domain, and tells each. The second value says whether the API can be reached at all.
pub async fn section(domain: &Domain, web: &WebClient) -> (Section, bool) {
    let mut section = Section::new("probes");
    let api = &domain.manifest.api;
    if api.base.is_none() && api.hosts.is_empty() {
        section.fact("the domain has no `[api]`, so there is nothing to ask");
        return (section, true);
    }
    if api.probe.is_empty() {
        section.note(
            "there is no probe, so nothing shows whether the API is healthy",
            "add one to `[api]`: `probe = [{ name = \"search\", get = \"/search?q=cat\", expect = \"status == 200\" }]`",
        );
        return (section, true);
    }
    let answers = join_all(api.probe.iter().map(|probe| ask(web, probe))).await;
    let mut reached = true;
    for (probe, health) in api.probe.iter().zip(&answers) {
        let (name, path) = (&probe.name, &probe.get);
        let again = format!("`workbench fetch {} '{path}'` shows the answer", domain.reference);
        match health {
            Health::Healthy(answer) => section.fact(format!("{name}: healthy, {}", described(answer))),
            Health::Unhealthy(answer, reason) => section.short(
                format!("{name}: not healthy, {reason}; {path} answered {}", described(answer)),
                format!("{again}; choose another endpoint or API, or mend `expect`"),
            ),
            Health::NoAnswer(error @ WebError::NotRecorded { .. }) => section.warn(
                format!("{name}: not asked, {error}"),
                "add `--live` to ask the API itself; record the address, so that it is looked at offline, too",
            ),
            Health::NoAnswer(error) => {
                reached &= !matches!(error, WebError::Unreachable { .. });
                section
                    .short(format!("{name}: no answer, {error}"), format!("{again}; look whether the API still lives"));
            }
        }
    }
    (section, reached)
}

/// `HTTP 200 from the cassette, 1,234 bytes: first words`.
fn described(answer: &RawAnswer) -> String {
    let words = answer.first_words();
    let bytes = grouped(answer.body.len() as u64);
    format!("HTTP {} from the {}, {bytes} bytes: {words}", answer.status, answer.origin)
}
