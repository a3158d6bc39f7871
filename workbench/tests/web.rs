//! The web client against well-behaved servers on the loopback interface: what is asked, kept and counted.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/api.rs"]
mod api;
#[path = "support/server.rs"]
mod server;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use api::{api, open, redirect, set_up, settings, text};
use server::{Request, Server, answer, json};
use workbench::domain::manifest::Pace;
use workbench::web::{CassetteWriter, Counters, Expect, Origin, Source, WebClient, WebError, WebSettings};

#[tokio::test]
async fn concurrent_requests_for_one_address_are_one() {
    let (server, client, _cache) = set_up(|_| {
        std::thread::sleep(Duration::from_millis(30));
        json("[1]")
    });
    let runs: Vec<WebClient> = (0..20).map(|_| client.scoped()).collect();
    let query = |turned: bool| {
        let mut pairs = vec![("q".to_owned(), "a b".to_owned()), ("limit".to_owned(), "5".to_owned())];
        if turned {
            pairs.reverse();
        }
        pairs
    };
    let all =
        runs.iter().enumerate().map(|(n, run)| async move { run.get("/s", &query(n % 2 == 0), Expect::Json).await });
    for answer in futures::future::join_all(all).await {
        assert_eq!(answer.unwrap().body, "[1]");
    }
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].target, "/public/s?limit=5&q=a+b");
    let sum = |count: fn(&Counters) -> u64| runs.iter().map(|run| count(&run.counters())).sum::<u64>();
    assert_eq!((sum(|c| c.network_calls), sum(|c| c.cache_hits)), (1, 19));
}

#[tokio::test]
async fn a_caller_that_leaves_does_not_take_the_others_along() {
    let (server, client, _cache) = set_up(|_| {
        std::thread::sleep(Duration::from_millis(100));
        json("{}")
    });
    let leader = tokio::spawn({
        let client = client.clone();
        async move { text(&client, "/x").await }
    });
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let follower = tokio::spawn({
        let client = client.clone();
        async move { text(&client, "/x").await }
    });
    tokio::task::yield_now().await;
    leader.abort();
    assert_eq!(follower.await.unwrap(), "{}");
}

#[tokio::test]
async fn the_gap_is_kept_over_hosts_redirects_and_retries() {
    const GAP: Duration = Duration::from_millis(40);
    let server = Server::start(|request| match request.number {
        0 => redirect("https://images.example.org/hop"),
        1 => answer(503, &[], b""),
        _ => json("{}"),
    });
    let cache = tempfile::tempdir().unwrap();
    let mut settings = settings(&server, cache.path());
    settings.api.pace = Pace { gap_ms: 40, concurrency: 4 };
    let client = open(settings);
    let other = client.scoped();
    let began = Instant::now();
    assert_eq!(text(&client, "/first").await, "{}");
    let paths = ["/a", "/b", "https://images.example.org/c", "/d"];
    futures::future::join_all(paths.map(|path| text(&other, path))).await;
    let requests = server.requests();
    assert_eq!(requests.len(), 7, "{requests:?}");
    for (number, request) in (0..).zip(&requests) {
        assert!(request.at - began >= GAP * number, "request {number} came too early");
    }
    let calls = client.counters().network_calls + other.counters().network_calls;
    for path in paths {
        assert_eq!(text(&client, path).await, "{}");
    }
    assert_eq!(client.counters().network_calls + other.counters().network_calls, calls, "hits are not sent");
}

#[tokio::test]
async fn no_more_requests_at_once_than_the_manifest_says() {
    let (active, peak) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&peak);
    let server = Server::start(move |_| {
        seen.fetch_max(active.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        active.fetch_sub(1, Ordering::SeqCst);
        json("{}")
    });
    let cache = tempfile::tempdir().unwrap();
    let mut settings = settings(&server, cache.path());
    settings.api.pace.concurrency = 3;
    let client = open(settings);
    let paths: Vec<String> = (0..20).map(|n| format!("/{n}")).collect();
    futures::future::join_all(paths.iter().map(|path| text(&client, path))).await;
    assert_eq!(server.requests().len(), 20);
    assert!((2..=3).contains(&peak.load(Ordering::SeqCst)), "{peak:?}");
}

#[tokio::test]
async fn permanent_answers_are_kept_for_the_next_command() {
    let script = |request: &Request| match request.target.as_str() {
        "/public/good" => json(&format!("[{}]", request.number)),
        "/public/picture" => answer(200, &["content-type: image/jpeg"], b"\xff\xd8"),
        "/public/missing" => answer(404, &[], b"no"),
        "/public/gone" => answer(410, &[], b"retired"),
        "/public/refused" => answer(400, &[], b"bad"),
        "/public/broken" => json("{"),
        _ => answer(503, &[], b"busy"),
    };
    let (server, first, cache) = set_up(script);
    let second = open(settings(&server, cache.path()));
    let mut offline = settings(&server, cache.path());
    offline.offline = true;
    let offline = open(offline);
    let elsewhere = Server::start(script);
    let other_route = open(settings(&elsewhere, cache.path()));
    for (path, kept) in [
        ("/good", true),
        ("/picture", true),
        ("/missing", true),
        ("/gone", true),
        ("/refused", false),
        ("/broken", false),
        ("/busy", false),
    ] {
        let before = first.fetch(path).await.unwrap();
        assert_eq!(before.origin, Origin::Network, "{path}");
        let sent = server.requests().len();
        let again = second.fetch(path).await.unwrap();
        assert_eq!((server.requests().len() == sent, again.origin == Origin::Cache), (kept, kept), "{path}");
        assert_eq!(
            (before.status, &before.body, &before.content_type),
            (again.status, &again.body, &again.content_type)
        );
        match offline.fetch(path).await {
            Ok(answer) => assert!(kept && answer.body == before.body, "{path}"),
            Err(error) => {
                assert!(!kept && matches!(error, WebError::NotRecorded { source_name: "cache", .. }), "{error}")
            }
        }
        assert_eq!(other_route.fetch(path).await.unwrap().origin, Origin::Network, "caches are kept apart: {path}");
    }
    assert_eq!(second.counters().cache_hits, 4);
    assert_eq!(offline.counters().network_calls, 0);
}

/// How sites turn away clients they take for robots: status 200 and a page.
#[tokio::test]
async fn a_page_in_place_of_json_is_not_kept() {
    let page = || answer(200, &["content-type: text/html"], b"<h1>Are you a robot?</h1>");
    let walled = move |request: &Request| if request.number == 0 { page() } else { json("[1]") };
    let turned_away = "BASE/x answered with text/html where JSON was expected; it starts with “Are you a robot?”";

    let (server, client, cache) = set_up(walled);
    assert_eq!(text(&client, "/x").await, turned_away);
    assert!(client.answered().is_empty(), "nothing to record");
    assert_eq!(text(&client, "/x").await, "[1]");
    assert_eq!(text(&open(settings(&server, cache.path())), "/x").await, "[1]");
    assert_eq!((client.answered().len(), server.requests().len()), (1, 2));

    // Who looks at the page as it is, keeps it for others who look, not for who wants JSON.
    let (server, client, cache) = set_up(walled);
    let looks = async |client: &WebClient| {
        let seen = client.fetch("/x").await.unwrap();
        (seen.content_type, seen.origin)
    };
    assert_eq!(looks(&client).await, ("text/html".to_owned(), Origin::Network));
    assert_eq!(looks(&client).await, ("text/html".to_owned(), Origin::Cache));
    assert_eq!(text(&open(settings(&server, cache.path())), "/x").await, "[1]");
    assert_eq!(text(&client, "/x").await, "[1]");
    assert_eq!(looks(&client).await, ("application/json".to_owned(), Origin::Cache));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_recording_answers_without_the_network() {
    let (_server, live, folder) = set_up(|request| match request.target.as_str() {
        "/public/search?q=cat" => answer(410, &["content-type: application/json"], br#"{"message":"use v1.1"}"#),
        "/public/busy" => answer(503, &[], b""),
        "/img" => answer(200, &["content-type: image/png", "set-cookie: secret=1"], b"\x89PNG"),
        _ => json("{\"n\": 1}\n"),
    });
    for path in ["/one", "/two", "/search?q=cat", "/busy", "https://images.example.org/img"] {
        _ = live.fetch(path).await;
    }
    let cassette = folder.path().join("museum").join("cassette");
    let mut writer = CassetteWriter::open(&cassette).unwrap();
    for url in live.answered() {
        writer.add(&live.fetch(&url).await.unwrap()).unwrap();
    }
    assert_eq!(writer.save().unwrap(), 4, "what is not permanent is not recorded");
    let client = open(WebSettings {
        api: api(),
        cassette: Some(cassette.clone()),
        source: Source::Cassette,
        offline: false,
        cache: folder.path().join("unused"),
        injections: vec!["path=/two,status=404".parse().unwrap()],
    });
    assert_eq!(client.source().to_string(), "cassette");
    let one = client.get("/one#part", &[], Expect::Json).await.unwrap();
    assert_eq!((one.body.as_ref(), one.origin), (b"{\"n\": 1}\n".as_slice(), Origin::Cassette));
    assert_eq!(
        client.get("https://images.example.org/img", &[], Expect::Bytes).await.unwrap().body,
        b"\x89PNG".as_slice()
    );
    assert_eq!(text(&client, "/search?q=cat").await, "BASE/search?q=cat returned HTTP 410: use v1.1");
    assert_eq!(text(&client, "/two").await, "BASE/two returned HTTP 404: Not Found");
    let missing = "BASE/three is not recorded in the cassette, and the network is not used; `workbench record` records \
                   what the domain's tasks ask for, `--live` asks the API";
    assert_eq!(text(&client, "/three").await, missing);
    assert_eq!(client.counters(), Counters { network_calls: 0, cache_hits: 3 });
    assert!(!folder.path().join("unused").exists());
    std::fs::remove_dir_all(cassette.join("bodies")).unwrap();
    let error = open_cassette(&cassette).get("/one", &[], Expect::Json).await.unwrap_err().to_string();
    assert!(error.contains("index.jsonl:1: body bodies/") && error.contains("is missing"), "{error}");
}

fn open_cassette(cassette: &Path) -> WebClient {
    open(WebSettings {
        api: api(),
        cassette: Some(cassette.to_owned()),
        source: Source::Cassette,
        offline: true,
        cache: cassette.join("unused"),
        injections: Vec::new(),
    })
}

#[tokio::test]
async fn injected_answers_are_never_kept() {
    let server = Server::start(|_| json("[1]"));
    let cache = tempfile::tempdir().unwrap();
    let mut injected = settings(&server, cache.path());
    injected.injections = vec!["path=/gone,status=410".parse().unwrap(), "path=/empty,swallow=[]".parse().unwrap()];
    let injected = open(injected);
    assert_eq!(text(&injected, "/gone").await, "BASE/gone returned HTTP 410: Gone");
    let empty = injected.get("/empty", &[], Expect::Json).await.unwrap();
    assert_eq!((empty.body.as_ref(), empty.origin), (b"[]".as_slice(), Origin::Injected));
    assert!(server.requests().is_empty() && injected.answered().is_empty());
    let plain = open(settings(&server, cache.path()));
    assert_eq!(text(&plain, "/gone").await, "[1]");
    assert_eq!(text(&plain, "/empty").await, "[1]");
}

#[tokio::test]
async fn every_run_meets_the_same_faults() {
    let server = Server::start(|_| json("[1]"));
    let cache = tempfile::tempdir().unwrap();
    let mut injected = settings(&server, cache.path());
    injected.injections = vec!["path=/x,status=503,after=2,first=3".parse().unwrap()];
    let command = open(injected);
    for run in [command.scoped(), command.scoped(), command.scoped().scoped()] {
        let same_run = run.clone();
        let fault = "BASE/x returned HTTP 503: Service Unavailable";
        for (number, expected) in ["[1]", "[1]", fault, "[1]"].into_iter().enumerate() {
            let asks = if number % 2 == 0 { &run } else { &same_run };
            assert_eq!(text(asks, "/x").await, expected, "request {number}");
            assert_eq!(text(&run.uninjected(), "/x").await, "[1]", "counted for nobody, met by nothing");
        }
        assert_eq!(run.counters().network_calls + run.counters().cache_hits, 3 + 4, "injected ones are not requests");
    }
    assert_eq!(text(&command.uninjected().scoped(), "/x").await, "[1]");
}

#[tokio::test]
async fn headers_are_sent_and_not_stored() {
    let server = Server::start(|_| json("{}"));
    let cache = tempfile::tempdir().unwrap();
    let mut settings = settings(&server, cache.path());
    // A variable that cargo sets for tests stands for a secret.
    settings.api.headers = [("x-key", "env:CARGO_PKG_DESCRIPTION"), ("x-plain", "yes")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    assert_eq!(text(&open(settings.clone()), "/x").await, "{}");
    let request = &server.requests()[0];
    assert_eq!(request.header("x-key"), Some(env!("CARGO_PKG_DESCRIPTION")));
    assert_eq!(request.header("x-plain"), Some("yes"));
    assert!(request.header("user-agent").unwrap().starts_with(concat!("workbench/", env!("CARGO_PKG_VERSION"), " (")));
    assert_eq!((request.header("cookie"), request.header("referer")), (None, None));
    for file in walk(cache.path()) {
        let content = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!content.contains(env!("CARGO_PKG_DESCRIPTION")) && !content.contains("x-key"), "{}", file.display());
    }
    settings.api.headers.insert("x-key".to_owned(), "env:WORKBENCH_TEST_IS_NOT_SET".to_owned());
    let error = text(&open(settings), "/y").await;
    assert!(error.contains("header `x-key` needs the environment variable WORKBENCH_TEST_IS_NOT_SET"), "{error}");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { files.extend(walk(&entry.path())) } else { files.push(entry.path()) }
    }
    assert!(!files.is_empty());
    files
}

#[tokio::test]
async fn a_manifest_that_cannot_work_is_refused_at_once() {
    let (server, _, cache) = set_up(|_| json("{}"));
    let mut wrong_base = settings(&server, cache.path());
    wrong_base.api.base = Some("api.example.org".to_owned());
    let mut wrong_header = settings(&server, cache.path());
    wrong_header.api.headers.insert("not a name".to_owned(), "x".to_owned());
    let mut open_secret = settings(&server, cache.path());
    open_secret.api.headers.insert("x-key".to_owned(), "env:WORKBENCH_TEST_IS_NOT_SET".to_owned());
    open_secret.source = Source::Routes(vec!["api.example.org=http://mirror.invalid".parse().unwrap()]);
    let mut misspelt_route = settings(&server, cache.path());
    misspelt_route.source = Source::Routes(vec!["api.exmple.org=http://127.0.0.1:1".parse().unwrap()]);
    let mut needless_route = settings(&server, cache.path());
    needless_route.api.hosts.clear();
    let mut wrong_cassette = settings(&server, cache.path());
    wrong_cassette.source = Source::Cassette;
    wrong_cassette.cassette = Some(cache.path().join("nowhere"));
    for (settings, words) in [
        (wrong_base, "`[api] base` is `api.example.org`"),
        (wrong_header, "`not a name` is not the name of a header"),
        (open_secret, "`x-key` carries a secret (`env:`), which goes over https or to this machine only"),
        (
            misspelt_route,
            "`--route api.exmple.org=http://127.0.0.1:1` is for `api.exmple.org`, which is not among the domain's \
             `[api] hosts` (127.0.0.1, api.example.org, images.example.org, unrouted.invalid); did you mean `api.example.org`?",
        ),
        (needless_route, "is not among the domain's `[api] hosts` (none)"),
        (wrong_cassette, "index.jsonl: No such file"),
    ] {
        let error: Box<dyn std::error::Error> = WebClient::open(settings).unwrap_err().into();
        let chain = format!("{error} {}", error.source().map(ToString::to_string).unwrap_or_default());
        assert!(chain.contains(words), "{chain}");
    }
}
