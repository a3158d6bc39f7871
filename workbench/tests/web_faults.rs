//! The web client against servers that misbehave, on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/api.rs"]
mod api;
#[path = "support/server.rs"]
mod server;

use std::time::Duration;

use api::{hasty, open, redirect, set_up, settings, text};
use server::{Reply, Request, Server, answer, head, json};
use workbench::web::{Expect, RetryPolicy, Source, WebClient, WebError};

fn gzip(body: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn html(status: u16) -> Reply {
    answer(
        status,
        &["content-type: text/html"],
        b"<html><title>Sorry</title><body>Request <b>unsuccessful</b>.</body></html>",
    )
}

fn zipped(body: &[u8]) -> Reply {
    answer(200, &["content-type: application/json", "content-encoding: gzip"], body)
}

fn cut_off() -> Reply {
    let mut bytes = head(200, &["content-type: application/json"], Some(100));
    bytes.extend_from_slice(b"{\"a\":");
    Reply::Close(bytes)
}

/// `trouble` for the first `times` requests, then a good answer.
fn at_first(times: usize, request: &Request, trouble: Reply) -> Reply {
    if request.number < times { trouble } else { json("{}") }
}

struct Case {
    name: &'static str,
    script: fn(&Request) -> Reply,
    outcome: &'static str,
    requests: usize,
}

const fn case(name: &'static str, requests: usize, outcome: &'static str, script: fn(&Request) -> Reply) -> Case {
    Case { name, script, outcome, requests }
}

#[tokio::test]
async fn every_fault_ends_in_an_answer_or_a_clear_text() {
    const OVERLOAD: &[u8] = br#"{"message":"too busy"}"#;
    let cases = [
        case("plain", 1, "{}", |_| json("{}")),
        case("gzip", 1, r#"{"zipped":true}"#, |_| zipped(&gzip(br#"{"zipped":true}"#))),
        case("429 once", 2, "{}", |r| at_first(1, r, answer(429, &[], b""))),
        case("429 with seconds", 2, "{}", |r| at_first(1, r, answer(429, &["retry-after: 0"], b""))),
        case("429 with a date", 2, "{}", |r| {
            at_first(1, r, answer(429, &["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"], b""))
        }),
        case("429 for an hour", 1, "BASE/x returned HTTP 429: too busy", |_| {
            answer(429, &["retry-after: 3600"], OVERLOAD)
        }),
        case("429 for ever", 1, "BASE/x returned HTTP 429", |_| {
            answer(429, &["retry-after: 18446744073709551615"], b"")
        }),
        case("500 five times", 6, "{}", |r| at_first(5, r, answer(500, &[], b""))),
        case("502", 2, "{}", |r| at_first(1, r, answer(502, &[], b""))),
        case("504", 2, "{}", |r| at_first(1, r, answer(504, &[], b""))),
        case("522 of a content network", 2, "{}", |r| at_first(1, r, answer(522, &[], b""))),
        case("503 for good", 6, "BASE/x returned HTTP 503: too busy (tried 6 times)", |_| answer(503, &[], OVERLOAD)),
        case("403 of a fast client", 3, "{}", |r| at_first(2, r, html(403))),
        case("403 for good", 6, "BASE/x returned HTTP 403: tried 6 times", |_| html(403)),
        case("400", 1, "BASE/x returned HTTP 400: Bad Request", |_| answer(400, &[], b"Bad Request")),
        case("401", 1, "BASE/x returned HTTP 401", |_| html(401)),
        case("404", 1, "BASE/x returned HTTP 404: ObjectID not found", |_| {
            answer(404, &["content-type: application/json"], br#"{"message":"ObjectID not found"}"#)
        }),
        case("410", 1, "BASE/x returned HTTP 410: gone", |_| answer(410, &[], br#"{"error":{"message":"gone"}}"#)),
        case("501", 1, "BASE/x returned HTTP 501", |_| answer(501, &[], b"")),
        case("505", 1, "BASE/x returned HTTP 505", |_| answer(505, &[], b"")),
        case("cut off once", 2, "{}", |r| at_first(1, r, cut_off())),
        case(
            "cut off for good",
            6,
            "BASE/x sent an answer that broke off after 5 bytes: end of file before message length reached (tried 6 times)",
            |_| cut_off(),
        ),
        case("closed without an answer", 2, "{}", |r| at_first(1, r, Reply::Close(Vec::new()))),
        case("no HTTP", 2, "{}", |r| at_first(1, r, Reply::Close(b"SSH-2.0-x\r\n".to_vec()))),
        case("an error that breaks off", 1, "BASE/x returned HTTP 400: start", |_| {
            let mut bytes = head(400, &[], Some(100));
            bytes.extend_from_slice(b"start");
            Reply::Close(bytes)
        }),
        case(
            "broken JSON",
            1,
            "BASE/x answered with broken JSON: expected value at line 1 column 6; it starts with “{\"a\":]”",
            |_| json("{\"a\":]"),
        ),
        case("not UTF-8", 1, "BASE/x answered with broken JSON: not UTF-8 after byte 1", |_| {
            answer(200, &["content-type: application/json"], b"\"\xff\"")
        }),
        case(
            "a page",
            1,
            "BASE/x answered with text/html where JSON was expected; it starts with “Sorry Request unsuccessful .”",
            |_| html(200),
        ),
        case("empty", 1, "BASE/x answered with an empty body where JSON was expected", |_| json("")),
        case(
            "no gzip",
            6,
            "BASE/x sent an answer that broke off after 0 bytes: Invalid gzip header (tried 6 times)",
            |_| zipped(b"not gzip at all"),
        ),
        case("gzip bomb", 1, "BASE/x answered with more than 1 MB (`[api] body_mb`)", |_| {
            zipped(&gzip(&vec![b' '; 50 << 20]))
        }),
        case("too long", 1, "BASE/x answered with more than 1 MB (`[api] body_mb`)", |_| {
            json(&" ".repeat((1 << 20) + 1))
        }),
        case("endless", 1, "BASE/x answered with more than 1 MB (`[api] body_mb`)", |_| {
            Reply::Endless(head(200, &[], None), vec![b' '; 1 << 16], Duration::ZERO)
        }),
        case("redirect to a path", 2, "{}", |r| at_first(1, r, redirect("/elsewhere?b=1"))),
        case("redirect to another host", 2, "{}", |r| at_first(1, r, redirect("https://images.example.org/x"))),
        case("redirect loop", 6, "BASE/x redirected more than 5 times, last to BASE/x", |_| redirect("/public/x")),
        case(
            "redirect to a forbidden host",
            1,
            "https://evil.example/steal is not allowed: BASE/x redirects there, and `evil.example` is not among the domain's \
             `[api] hosts` (127.0.0.1, api.example.org, images.example.org, unrouted.invalid)",
            |_| redirect("https://evil.example/steal"),
        ),
        case(
            "redirect to this machine",
            1,
            "http://127.0.0.1/x is not allowed: BASE/x redirects there, and an address of this machine or of a private network \
             needs a `--route`",
            |_| redirect("http://127.0.0.1/x"),
        ),
        case(
            "redirect to plain http",
            1,
            "http://unrouted.invalid/ is not allowed: BASE/x redirects there, and only https is used, except for hosts with a \
             `--route`",
            |_| redirect("http://unrouted.invalid/"),
        ),
        case(
            "redirect to a file",
            1,
            "file:///etc/passwd is not allowed: only http and https can be asked for",
            |_| redirect("file:///etc/passwd"),
        ),
        case("redirect to nowhere", 1, "BASE/x returned HTTP 302", |_| answer(302, &[], b"")),
    ];
    for Case { name, script, outcome, requests } in cases {
        let (server, client, _cache) = set_up(script);
        assert_eq!(text(&client, "/x").await, outcome, "{name}");
        assert_eq!(server.requests().len(), requests, "requests of {name}");
        assert_eq!(client.counters().network_calls, requests as u64, "counted calls of {name}");
    }
}

#[tokio::test]
async fn a_server_that_stalls_is_left() {
    let stalls: [fn(&Request) -> Reply; 2] = [
        |_| Reply::Endless(Vec::new(), Vec::new(), Duration::from_millis(50)),
        |_| Reply::Endless(head(200, &[], Some(1000)), b" ".to_vec(), Duration::from_millis(50)),
    ];
    for script in stalls {
        let server = Server::start(script);
        let cache = tempfile::tempdir().unwrap();
        let mut settings = settings(&server, cache.path());
        settings.api.request_seconds = 1;
        let client = WebClient::open_patiently(settings, RetryPolicy { tries: 2, ..hasty() }).unwrap();
        let expected = "BASE/x could not be reached: no complete answer within 1 seconds (tried 2 times)";
        assert_eq!(text(&client, "/x").await, expected);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn an_unreachable_host_is_told_soon() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (plain, _, cache) = set_up(|_| json("{}"));
    let secure_to_plain = plain.url().replace("http:", "https:");
    for (route, words) in [
        (format!("api.example.org=http://{closed}"), "Connection refused"),
        (format!("api.example.org={secure_to_plain}"), "tls handshake eof"),
        // A label that no name may have: refused by the resolver itself, without a question to anybody.
        (format!("api.example.org=http://{}.invalid", "x".repeat(64)), "failed to lookup address"),
        ("api.example.org=http://[::1]:1".to_owned(), "(tried 3 times)"),
    ] {
        let mut settings = settings(&plain, cache.path());
        settings.source = Source::Routes(vec![route.parse().unwrap()]);
        let client = open(settings);
        let error = client.get("/x", &[], Expect::Json).await.unwrap_err();
        assert!(matches!(error, WebError::Unreachable { .. }), "{route}: {error}");
        assert!(error.to_string().contains(words), "{route}: {error}");
    }
}

#[tokio::test]
async fn an_api_that_is_down_is_not_asked_six_times_for_every_address() {
    let (server, client, _cache) = set_up(|request| match request.target.as_str() {
        "/public/healthy" => json("{}"),
        _ => answer(503, &[], b"busy"),
    });
    let mut requests = Vec::new();
    for path in ["/1", "/2", "/3", "/4", "/5", "/healthy", "/6"] {
        let before = server.requests().len();
        _ = text(&client, path).await;
        requests.push(server.requests().len() - before);
    }
    assert_eq!(requests, [6, 6, 6, 1, 1, 1, 6]);
}
