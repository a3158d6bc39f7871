//! A client whose API is a scripted server of the test.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use workbench::domain::manifest::{ApiSection, Pace};
use workbench::web::{Expect, RetryPolicy, Source, WebClient, WebSettings};

use crate::server::{Reply, Request, Server, answer};

pub(crate) const BASE: &str = "https://api.example.org/public";

/// As patient as the default, in thousandths of the time.
pub(crate) fn hasty() -> RetryPolicy {
    RetryPolicy {
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(4),
        total: Duration::from_secs(20),
        ..RetryPolicy::default()
    }
}

pub(crate) fn api() -> ApiSection {
    ApiSection {
        base: Some(BASE.to_owned()),
        hosts: ["api.example.org", "images.example.org", "unrouted.invalid", "127.0.0.1"].map(str::to_owned).to_vec(),
        pace: Pace { gap_ms: 0, concurrency: 8 },
        retry_403: true,
        request_seconds: 20,
        body_mb: 1,
        ..ApiSection::default()
    }
}

pub(crate) fn settings(server: &Server, cache: &Path) -> WebSettings {
    let route = |host: &str| format!("{host}={}", server.url()).parse().unwrap();
    WebSettings {
        api: api(),
        cassette: None,
        source: Source::Routes(vec![route("api.example.org"), route("images.example.org")]),
        offline: false,
        cache: cache.to_owned(),
        injections: Vec::new(),
    }
}

pub(crate) fn open(settings: WebSettings) -> WebClient {
    WebClient::open_patiently(settings, hasty()).unwrap()
}

/// A server, a client routed to it, and the folder of its cache.
pub(crate) fn set_up(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (Server, WebClient, TempDir) {
    let server = Server::start(script);
    let cache = tempfile::tempdir().unwrap();
    let client = open(settings(&server, cache.path()));
    (server, client, cache)
}

pub(crate) async fn text(client: &WebClient, path: &str) -> String {
    match client.get(path, &[], Expect::Json).await {
        Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
        Err(error) => error.to_string().replace(BASE, "BASE"),
    }
}

pub(crate) fn redirect(to: &str) -> Reply {
    answer(302, &[&format!("location: {to}")], b"")
}
