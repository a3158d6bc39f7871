//! The hosts a domain may reach, asked for by a tool or by a redirect, in every way of writing them: what is not allowed is
//! told, and never connected to.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/api.rs"]
mod api;
#[path = "support/server.rs"]
mod server;

use api::{BASE, open, redirect, set_up, settings, text};
use server::{Request, Server, answer, json};
use workbench::web::{Expect, WebError};

/// Ways of writing an address of this machine, or of dressing one up as an allowed host. `PORT` is that of a server that
/// must not be asked.
const FORBIDDEN: [&str; 31] = [
    "http://unrouted.invalid/",
    "https://evil.example/steal",
    "https://api.example.org.evil.example/",
    "https://api.example.org@evil.example/",
    "https://evil.example\\@api.example.org/",
    "https://evil.example#@api.example.org/",
    "https://evil.example?@api.example.org/",
    "https://api.example.org:8443/",
    "https://api.example.org./",
    "http://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://①②⑦.0.0.1:PORT/",
    "http://0:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://it.localhost:PORT/",
    "http://api.example.org@127.0.0.1:PORT/",
    "http://user:password@127.0.0.1:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/",
];

#[tokio::test]
async fn no_way_of_writing_it_opens_a_forbidden_host() {
    let canary = Server::start(|_| json("\"stolen\""));
    for pattern in FORBIDDEN {
        let forbidden = pattern.replace("PORT", &canary.port().to_string());
        let to = forbidden.clone();
        let server = Server::start(move |_| redirect(&to));
        let cache = tempfile::tempdir().unwrap();
        let mut settings = settings(&server, cache.path());
        // A variable that cargo sets for tests stands for a secret.
        settings.api.headers.insert("x-key".to_owned(), "env:CARGO_PKG_DESCRIPTION".to_owned());
        // A manifest that lists this machine does not open it: that takes a `--route` of who runs it.
        let own = [format!("127.0.0.1:{}", canary.port()), format!("localhost:{}", canary.port())];
        settings.api.hosts.extend(own);
        let client = open(settings);

        let asked = client.get(&forbidden, &[], Expect::Json).await.unwrap_err();
        assert!(matches!(asked, WebError::NotAllowed { .. }), "{forbidden}: {asked}");
        assert!(server.requests().is_empty(), "{forbidden}");

        let redirected = client.get("/x", &[], Expect::Json).await.unwrap_err();
        assert!(matches!(redirected, WebError::BadAnswer { .. }), "{forbidden}: {redirected}");
        let told = redirected.to_string();
        assert!(told.starts_with(&format!("{BASE}/x redirects to ")), "{forbidden}: {told}");
        assert!(told.contains(", which is not allowed: "), "{forbidden}: {told}");
        assert_eq!(server.requests().len(), 1, "{forbidden}");
        assert!(server.requests()[0].header("x-key").is_some(), "the API gets its key");
        assert!(client.answered().is_empty(), "{forbidden}");
    }
    assert!(canary.requests().is_empty(), "{:?}", canary.requests());
}

#[tokio::test]
async fn redirects_that_are_allowed_are_followed() {
    const ELSEWHERE: &str = "https://images.example.org/elsewhere";
    for (status, location, target) in [
        (301, "/elsewhere?b=1", "/elsewhere?b=1"),
        (302, "elsewhere", "/public/elsewhere"),
        (303, "?b=1", "/public/x?b=1"),
        (307, ELSEWHERE, "/elsewhere"),
        (308, "HTTPS://IMAGES.EXAMPLE.ORG:443/elsewhere#part", "/elsewhere"),
        (302, "//images.example.org/elsewhere", "/elsewhere"),
        (302, "http://images.example.org/elsewhere", "/elsewhere"),
        (302, "https://ｉmages.example.org/elsewhere", "/elsewhere"),
    ] {
        let (server, client, _cache) = set_up(move |request| match request.number {
            0 => answer(status, &[&format!("location: {location}")], b""),
            _ => json("[1]"),
        });
        assert_eq!(text(&client, "/x").await, "[1]", "{location}");
        assert_eq!(server.requests()[1].target, target, "{location}");
        assert_eq!(text(&client, "/x").await, "[1]");
        assert_eq!(server.requests().len(), 2, "kept under the address that was asked for: {location}");
    }
}

#[tokio::test]
async fn redirects_end() {
    let again = |_: &Request| redirect("/public/x");
    let growing = |request: &Request| redirect(&format!("/public/{}", "x".repeat(request.number + 1)));
    let (server, client, _cache) = set_up(again);
    assert_eq!(text(&client, "/x").await, "BASE/x redirected more than 5 times, last to BASE/x");
    assert_eq!((server.requests().len(), client.counters().network_calls), (6, 6));
    let (server, client, _cache) = set_up(growing);
    assert_eq!(text(&client, "/x").await, "BASE/x redirected more than 5 times, last to BASE/xxxxxx");
    assert_eq!(server.requests().len(), 6);
    assert!(client.answered().is_empty());
}
