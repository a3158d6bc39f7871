//! The web client against servers that misbehave, on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/api.rs"]
mod api;
#[path = "support/server.rs"]
mod server;

use std::path::Path;
use std::time::Duration;

use api::{open, set_up, settings, text};
use server::{Reply, Request, Server, answer, head, json};
use workbench::web::Expect;

const JSON: &str = "content-type: application/json";
const BIG: &str = r#"{"n":1234567890123456789012345678901234567890}"#;
const DEEP: &str = "BASE/x answered with broken JSON: recursion limit exceeded at line 1 column 128; it starts with “[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…”";

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

/// A body in chunks, which ends with the connection.
fn chunked(body: &[u8]) -> Reply {
    Reply::Close([&head(200, &[JSON, "transfer-encoding: chunked"], None)[..], body].concat())
}

/// One bit of the checksum is wrong.
fn damaged(mut zipped: Vec<u8>) -> Vec<u8> {
    let place = zipped.len() - 8;
    zipped[place] ^= 1;
    zipped
}

/// Whether an outcome is the API's last word, which every later run must see as well.
fn is_kept(outcome: &str) -> bool {
    outcome.starts_with('{') || ["HTTP 404", "HTTP 410"].iter().any(|word| outcome.contains(word))
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
        case("429 with a date that is past", 2, "{}", |r| {
            at_first(1, r, answer(429, &["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"], b""))
        }),
        case("429 with a date far ahead", 1, "BASE/x returned HTTP 429", |_| {
            answer(429, &["retry-after: Sat, 06 Nov 2094 08:49:37 GMT"], b"")
        }),
        case("429 with garbage", 2, "{}", |r| at_first(1, r, answer(429, &["retry-after: in a while"], b""))),
        case("429 with a negative wait", 2, "{}", |r| at_first(1, r, answer(429, &["retry-after: -5"], b""))),
        case("429 for an hour", 1, "BASE/x returned HTTP 429: too busy", |_| {
            answer(429, &["retry-after: 3600"], OVERLOAD)
        }),
        case("429 for ever", 1, "BASE/x returned HTTP 429", |_| {
            answer(429, &["retry-after: 18446744073709551615"], b"")
        }),
        case("429 for longer than numbers last", 1, "BASE/x returned HTTP 429", |_| {
            answer(429, &["retry-after: 99999999999999999999999"], b"")
        }),
        case("500 five times", 6, "{}", |r| at_first(5, r, answer(500, &[], b""))),
        case("500 for good", 6, "BASE/x returned HTTP 500: tried 6 times", |_| answer(500, &[], b"")),
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
            zipped(&gzip(&vec![b' '; 5 << 20]))
        }),
        case("too long", 1, "BASE/x answered with more than 1 MB (`[api] body_mb`)", |_| {
            json(&" ".repeat((1 << 20) + 1))
        }),
        case("endless", 1, "BASE/x answered with more than 1 MB (`[api] body_mb`)", |_| {
            Reply::Endless(head(200, &[], None), vec![b' '; 1 << 16], Duration::ZERO)
        }),
        case("a redirect to nowhere", 1, "BASE/x returned HTTP 302", |_| answer(302, &[], b"")),
        case("no content", 1, "BASE/x returned HTTP 204", |_| answer(204, &[], b"")),
        case("a part that nobody asked for", 1, "BASE/x returned HTTP 206", |_| answer(206, &[JSON], b"{}")),
        case("not modified, though nothing was asked to be compared", 1, "BASE/x returned HTTP 304", |_| {
            Reply::Bytes(head(304, &[], None))
        }),
        case("an interim answer before the answer", 1, "{}", |_| {
            Reply::Bytes(
                [head(103, &["link: </style.css>"], None), head(200, &[JSON], Some(2)), b"{}".to_vec()].concat(),
            )
        }),
        case("a status of one digit", 2, "{}", |r| at_first(1, r, Reply::Close(b"HTTP/1.1 2 OK\r\n\r\n".to_vec()))),
        case("reset before the answer", 2, "{}", |r| at_first(1, r, Reply::Reset(Vec::new()))),
        case("reset in the middle", 2, "{}", |r| {
            at_first(1, r, Reply::Reset([head(200, &[JSON], Some(100)), b"{\"a\":".to_vec()].concat()))
        }),
        case("longer than it says", 1, "{}", |_| {
            Reply::Bytes([head(200, &[JSON], Some(2)), b"{} and more of it".to_vec()].concat())
        }),
        case(
            "a length that cuts the document",
            1,
            "BASE/x answered with broken JSON: EOF while parsing a value at line 1 column 5; it starts with “{\"a\":”",
            |_| Reply::Close([head(200, &[JSON], Some(5)), b"{\"a\": 1}".to_vec()].concat()),
        ),
        case("two lengths", 2, "{}", |r| {
            at_first(1, r, Reply::Close([head(200, &[JSON, "content-length: 5"], Some(2)), b"{}".to_vec()].concat()))
        }),
        case("a length that is no number", 2, "{}", |r| {
            at_first(1, r, Reply::Close([head(200, &[JSON, "content-length: two"], None), b"{}".to_vec()].concat()))
        }),
        case("in chunks", 1, "{}", |_| chunked(b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")),
        case("a chunk without a size", 2, "{}", |r| at_first(1, r, chunked(b"1\r\n{\r\nmore\r\n}\r\n"))),
        case("chunks without an end", 2, "{}", |r| at_first(1, r, chunked(b"1\r\n{\r\n"))),
        case("a chunk larger than memory", 2, "{}", |r| at_first(1, r, chunked(b"fffffffffffffff0\r\n{}"))),
        case("10,000 headers", 2, "{}", |r| at_first(1, r, answer(200, &["x-more: yes"; 10_000], b"{}"))),
        case("a status line of 1 MB", 2, "{}", |r| {
            at_first(1, r, Reply::Close(format!("HTTP/1.1 200 {}\r\n\r\n", "O".repeat(1 << 20)).into_bytes()))
        }),
        case("a header of 1 MB", 2, "{}", |r| {
            at_first(1, r, answer(200, &[&format!("x-long: {}", "a".repeat(1 << 20))], b"{}"))
        }),
        case("a header with a NUL", 2, "{}", |r| at_first(1, r, answer(200, &["x-odd: a\0b"], b"{}"))),
        case("gzip cut in the middle", 2, "{}", |r| at_first(1, r, zipped(&gzip(br#"{"zipped":true}"#)[..20]))),
        case("gzip with a wrong checksum", 2, "{}", |r| at_first(1, r, zipped(&damaged(gzip(br#"{"zipped":true}"#))))),
        case(
            "another encoding than was asked for",
            1,
            "BASE/x answered in the encoding `br`, which was not asked for",
            |_| answer(200, &[JSON, "content-encoding: br"], b"\x0b\x01\x80{}\x03"),
        ),
        case("encoded twice", 1, "BASE/x answered in the encoding `gzip, gzip`, which was not asked for", |_| {
            answer(200, &[JSON, "content-encoding: gzip, gzip"], &gzip(&gzip(b"{}")))
        }),
        case("a byte-order mark", 1, "{}", |_| answer(200, &[JSON], b"\xef\xbb\xbf{}")),
        case("UTF-16 with a mark", 1, "BASE/x answered with broken JSON: not UTF-8 after byte 0", |_| {
            answer(200, &["content-type: application/json; charset=utf-16"], b"\xff\xfe{\0}\0")
        }),
        case(
            "UTF-16 without a mark",
            1,
            "BASE/x answered with broken JSON: key must be a string at line 1 column 2; it starts with “{ }”",
            |_| answer(200, &[JSON], b"{\0}\0"),
        ),
        case("the same key twice", 1, r#"{"a":1,"a":2}"#, |_| json(r#"{"a":1,"a":2}"#)),
        case("a number of 40 digits", 1, BIG, |_| json(BIG)),
        case(
            "a number beyond all numbers",
            1,
            "BASE/x answered with broken JSON: number out of range at line 1 column 6; it starts with “[1e999]”",
            |_| json("[1e999]"),
        ),
        case(
            "a lone surrogate",
            1,
            "BASE/x answered with broken JSON: unexpected end of hex escape at line 1 column 8; it starts with “\"\\ud83d\"”",
            |_| json(r#""\ud83d""#),
        ),
        case("100,000 levels deep", 1, DEEP, |_| json(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))),
        case(
            "two documents",
            1,
            "BASE/x answered with broken JSON: trailing characters at line 2 column 1; it starts with “{} {}”",
            |_| json("{}\n{}"),
        ),
    ];
    let mut wrong = Vec::new();
    for Case { name, script, outcome, requests } in cases {
        let (server, client, cache) = set_up(script);
        let (told, sent) = (text(&client, "/x").await, server.requests().len());
        if (told.as_str(), sent) != (outcome, requests) {
            wrong.push(format!("{name}: after {sent} requests: {told}"));
            continue;
        }
        assert_eq!(client.counters().network_calls, requests as u64, "counted calls of {name}");

        // What is not the last word is in no cache and no recording: whoever asks next asks the API.
        assert_eq!(client.answered().len(), usize::from(is_kept(outcome)), "to record of {name}");
        assert_eq!(files(cache.path()), usize::from(is_kept(outcome)), "files of {name}");
        for next in [client, open(settings(&server, cache.path()))] {
            let before = server.requests().len();
            _ = text(&next, "/x").await;
            assert_eq!(server.requests().len() == before, is_kept(outcome), "asked again after {name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files in a folder and its sub-folders.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test]
async fn a_refusal_is_tried_again_only_where_it_means_haste() {
    let blocked_after_30 = |request: &Request| if request.number < 30 { json("{}") } else { html(403) };
    for (retry_403, outcome, requests) in
        [(true, "BASE/31 returned HTTP 403: tried 6 times", 36), (false, "BASE/31 returned HTTP 403", 31)]
    {
        let server = Server::start(blocked_after_30);
        let cache = tempfile::tempdir().unwrap();
        let mut settings = settings(&server, cache.path());
        settings.api.retry_403 = retry_403;
        let client = open(settings);
        for number in 1..=30 {
            assert_eq!(text(&client, &format!("/{number}")).await, "{}");
        }
        assert_eq!(text(&client, "/31").await, outcome);
        assert_eq!(server.requests().len(), requests);
    }
}

/// What a site that takes clients for robots answers to a request for a picture.
#[tokio::test]
async fn a_page_in_place_of_a_picture_is_not_kept() {
    for (path, is_picture) in
        [("/x.jpg", true), ("/x.JPEG?size=small", true), ("/x.png", true), ("/x.html", false), ("/x", false)]
    {
        let picture = || answer(200, &["content-type: image/jpeg"], b"\xff\xd8");
        let (server, client, cache) = set_up(move |request| if request.number < 2 { html(200) } else { picture() });
        let seen = client.fetch(path).await.unwrap();
        assert_eq!(seen.content_type, "text/html", "who looks sees it");
        let outcome = client.get(path, &[], Expect::Bytes).await;
        assert_eq!(files(cache.path()), usize::from(!is_picture), "{path}");
        if is_picture {
            let words =
                "answered with text/html where a picture was expected; it starts with “Sorry Request unsuccessful .”";
            assert!(outcome.unwrap_err().to_string().ends_with(words), "{path}");
            assert_eq!(client.get(path, &[], Expect::Bytes).await.unwrap().body, b"\xff\xd8".as_slice(), "{path}");
        } else {
            assert_eq!(outcome.unwrap().content_type, "text/html", "{path}");
        }
        assert_eq!(server.requests().len(), if is_picture { 3 } else { 1 }, "{path}");
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

/// Who asks at the same time shares the tries, the answer or the fault, and what is kept of it.
#[tokio::test]
async fn callers_at_once_share_a_fault_and_its_end() {
    for (script, outcome, requests) in [
        ((|r| at_first(1, r, cut_off())) as fn(&Request) -> Reply, "{}", 2),
        (|_| answer(503, &[], b""), "BASE/x returned HTTP 503: tried 6 times", 6),
    ] {
        let (server, client, cache) = set_up(script);
        let runs: Vec<_> = (0..20).map(|_| client.scoped()).collect();
        let told = futures::future::join_all(runs.iter().map(|run| text(run, "/x"))).await;
        assert_eq!(told, [outcome; 20]);
        assert_eq!(server.requests().len(), requests);
        assert_eq!(files(cache.path()), usize::from(is_kept(outcome)));
        let faults = usize::from(!is_kept(outcome));
        assert!(runs.iter().all(|run| run.faults().len() == faults), "each run has met it");
    }
}
