//! The web client against servers that send without end, or hardly anything: time and memory are bounded. What a client
//! reads is shown by what a server could send, not by a clock.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/api.rs"]
mod api;
#[path = "support/server.rs"]
mod server;

use std::io::Write as _;
use std::time::Duration;

use api::{hasty, open, redirect, settings, text};
use flate2::{Compression, FlushCompress};
use server::{Reply, Request, Server, head};
use workbench::web::{RetryPolicy, WebClient};

const JSON: &str = "content-type: application/json";
const ZIPPED: &str = "content-encoding: gzip";
const CHUNKED: &str = "transfer-encoding: chunked";
/// What the system takes from a server at most before the client has read it: the buffers of one connection.
const BUFFERS: u64 = 48 << 20;

/// A part of a gzip stream that may be sent again and again: a megabyte of spaces.
fn zipped_megabyte() -> Vec<u8> {
    let mut compressor = flate2::Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(1 << 20);
    compressor.compress_vec(&vec![b' '; 1 << 20], &mut block, FlushCompress::Full).unwrap();
    block
}

fn gzip_head() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
    encoder.flush().unwrap();
    encoder.get_ref()[..10].to_vec()
}

fn endless(start: Vec<u8>, again: &[u8]) -> Reply {
    // In large parts: an endless answer of small ones would take a slow server's time, not a fast client's memory.
    let parts = (1 << 16) / again.len().max(1) + 1;
    Reply::Endless(start, again.repeat(parts), Duration::ZERO)
}

fn endless_gzip(status: u16) -> Reply {
    endless([head(status, &[JSON, ZIPPED], None), gzip_head()].concat(), &zipped_megabyte())
}

const LONG: &str = "BASE/x answered with more than 1 MB (`[api] body_mb`)";

/// Name, requests, what the outcome says, the answer.
type Case = (&'static str, usize, &'static str, Script);
type Script = fn(&Request) -> Reply;

#[tokio::test]
async fn no_more_is_read_than_the_limit() {
    let cases: &[Case] = &[
        ("a body", 1, LONG, |_| endless(head(200, &[JSON], None), b" ")),
        ("a body of a petabyte", 1, LONG, |_| {
            endless(head(200, &[JSON, "content-length: 1125899906842624"], None), b" ")
        }),
        ("a body in chunks", 1, LONG, |_| endless(head(200, &[JSON, CHUNKED], None), b"8\r\n        \r\n")),
        ("a compressed body", 1, LONG, |_| endless_gzip(200)),
        ("the body of an error", 1, "BASE/x returned HTTP 400", |_| endless(head(400, &[], None), b"<")),
        ("the compressed body of an error", 1, "BASE/x returned HTTP 400", |_| endless_gzip(400)),
        ("the body of a redirect", 6, "redirected more than 5 times", |_| {
            endless(head(302, &["location: /public/x"], None), b" ")
        }),
        ("a status line", 2, "could not be reached", |_| endless(b"HTTP/1.1 200 ".to_vec(), b"O")),
        ("a header", 2, "could not be reached", |_| endless(b"HTTP/1.1 200 OK\r\nx-long: ".to_vec(), b"a")),
        ("headers", 2, "could not be reached", |_| endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-more: a\r\n")),
        ("the size of a chunk", 2, "broke off", |_| endless(head(200, &[JSON, CHUNKED], None), b"f")),
        ("the extension of a chunk", 2, "broke off", |_| {
            endless([&head(200, &[JSON, CHUNKED], None)[..], b"1;"].concat(), b"a")
        }),
        ("trailers", 2, "broke off", |_| {
            endless([&head(200, &[JSON, CHUNKED], None)[..], b"1\r\n{\r\n0\r\n"].concat(), b"x-more: a\r\n")
        }),
    ];
    for (name, requests, words, script) in cases {
        let server = Server::start(script);
        let cache = tempfile::tempdir().unwrap();
        let client =
            WebClient::open_patiently(settings(&server, cache.path()), RetryPolicy { tries: 2, ..hasty() }).unwrap();
        let told = text(&client, "/x").await;
        assert!(told.contains(words), "{name}: {told}");
        assert_eq!(server.requests().len(), *requests, "{name}");
        let most = (BUFFERS + (1 << 20)) * *requests as u64;
        assert!(server.sent() <= most, "{name}: {} bytes were taken", server.sent());
        assert!(client.answered().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_server_that_stalls_is_left() {
    const WAIT: Duration = Duration::from_millis(20);
    let stalls: &[(&str, Script)] = &[
        ("nothing at all", |_| Reply::Endless(Vec::new(), Vec::new(), WAIT)),
        ("half a status line", |_| Reply::Endless(b"HTTP/1.1 20".to_vec(), Vec::new(), WAIT)),
        ("headers, one by one", |_| Reply::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-more: a\r\n".to_vec(), WAIT)),
        ("interim answers", |_| Reply::Endless(Vec::new(), b"HTTP/1.1 102 Processing\r\n\r\n".to_vec(), WAIT)),
        ("a body, byte by byte", |_| Reply::Endless(head(200, &[JSON], Some(1000)), b" ".to_vec(), WAIT)),
        ("a body, chunk by chunk", |_| Reply::Endless(head(200, &[JSON, CHUNKED], None), b"1\r\n \r\n".to_vec(), WAIT)),
        ("the size of a chunk, digit by digit", |_| {
            Reply::Endless(head(200, &[JSON, CHUNKED], None), b"0".to_vec(), WAIT)
        }),
        ("a body without its end", |_| Reply::Endless(head(200, &[JSON], Some(3)), Vec::new(), WAIT)),
        ("a redirect to one that stalls", |request| match request.target.as_str() {
            "/public/x" => redirect("/public/slow"),
            _ => Reply::Endless(Vec::new(), Vec::new(), WAIT),
        }),
    ];
    let outcomes = stalls.iter().map(|(name, script)| async move {
        let server = Server::start(script);
        let cache = tempfile::tempdir().unwrap();
        let mut settings = settings(&server, cache.path());
        settings.api.request_seconds = 1;
        let client = WebClient::open_patiently(settings, RetryPolicy { tries: 2, ..hasty() }).unwrap();
        let expected = "BASE/x could not be reached: no complete answer within 1 seconds (tried 2 times)";
        assert_eq!(text(&client, "/x").await, expected, "{name}");
        assert!(server.requests().len() >= 2 && client.answered().is_empty(), "{name}");
    });
    futures::future::join_all(outcomes).await;
}

/// Callers that are ended by a limit of their own do not take along what is known of the fault.
#[tokio::test]
async fn a_fault_is_known_before_its_request_is_given_up() {
    let server = Server::start(|_| Reply::Bytes(head(503, &[], Some(0))));
    let cache = tempfile::tempdir().unwrap();
    let patient = RetryPolicy { first_wait: Duration::from_secs(300), total: Duration::from_secs(900), ..hasty() };
    let client = WebClient::open_patiently(settings(&server, cache.path()), patient).unwrap();
    let asking = tokio::spawn({
        let client = client.clone();
        async move { text(&client, "/x").await }
    });
    while client.faults().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    let faults = client.faults();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].text.ends_with("/x returned HTTP 503 (not given up when the run ended)"), "{faults:?}");
}

/// What tools are told, and whether it is a fault; a fault that passes is none.
#[tokio::test]
async fn faults_are_counted_and_answers_are_not() {
    let server = Server::start(|request| match request.target.as_str() {
        "/public/good" => server::json("{}"),
        "/public/busy" => server::answer(503, &[], b""),
        "/public/shut" => server::answer(403, &[], b""),
        "/public/broken" => server::json("{"),
        "/public/once" if request.number == 0 => server::answer(503, &[], b""),
        "/public/once" => server::json("{}"),
        "/public/unknown" => server::answer(404, &[], b""),
        _ => server::answer(400, &[], b""),
    });
    let cache = tempfile::tempdir().unwrap();
    let mut injected = settings(&server, cache.path());
    injected.injections = vec!["path=/gone,status=503".parse().unwrap()];
    let client = open(injected);
    for path in ["/once", "/good", "/unknown", "/wrong", "/gone", "https://evil.example/"] {
        _ = text(&client, path).await;
        assert_eq!(client.faults(), [], "{path}");
    }
    for (number, path) in (1..).zip(["/busy", "/shut", "/broken"]) {
        _ = text(&client, path).await;
        assert_eq!(client.faults().len(), number, "{path}");
    }
    _ = text(&client, "/busy").await;
    let counts: Vec<u64> = client.faults().iter().map(|fault| fault.count).collect();
    assert_eq!(counts.iter().sum::<u64>(), 4, "{:?}", client.faults());
    assert_eq!(client.scoped().faults(), [], "another run has met nothing");
}
