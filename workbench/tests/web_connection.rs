//! The way to the API: names, connections, certificates and proxies, each as it is and as it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "support/api.rs"]
mod api;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;
#[path = "support/tls.rs"]
mod tls;

use std::path::PathBuf;
use std::process::Command;

use api::{hasty, open, redirect, set_up, settings, text};
use program::{Outcome, finish};
use server::{Reply, Server, answer, json};
use tempfile::TempDir;
use workbench::web::{Expect, RetryPolicy, Source, WebClient, WebError};

#[tokio::test]
async fn an_unreachable_host_is_told_soon() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (plain, _, cache) = set_up(|_| json("{}"));
    let to_plain = plain.url().replace("http:", "https:");
    let silent = Server::start(|_| Reply::Close(Vec::new()));
    let unknown = tls::start("good", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    let self_signed = tls::start("self-signed", b"");
    let hosts = [
        (format!("http://{closed}"), "Connection refused", 3),
        (to_plain, "tls handshake eof", 3),
        (format!("http://{unknown}"), "invalid HTTP version parsed", 6),
        (format!("https://{unknown}"), "invalid peer certificate: UnknownIssuer", 1),
        (format!("https://{self_signed}"), "invalid peer certificate: ", 1),
        (silent.url(), "connection closed before message completed", 6),
        // A label that no name may have: refused by the resolver itself, without a question to anybody.
        (format!("http://{}.invalid", "x".repeat(64)), "failed to lookup address", 3),
        ("http://[::1]:1".to_owned(), "", 3),
    ];
    for (to, words, tries) in hosts {
        let mut settings = settings(&plain, cache.path());
        settings.source = Source::Routes(vec![format!("api.example.org={to}").parse().unwrap()]);
        let client = open(settings);
        let error = client.get("/x", &[], Expect::Json).await.unwrap_err();
        assert!(matches!(error, WebError::Unreachable { .. }), "{to}: {error}");
        assert!(error.to_string().contains(words), "{to}: {error}");
        assert_eq!(client.counters().network_calls, tries, "{to}: {error}");
        assert_eq!(client.faults().len(), 1, "{to}");
    }
    assert!(plain.requests().is_empty());
}

#[tokio::test]
async fn a_handshake_that_stalls_is_left() {
    let (plain, _, cache) = set_up(|_| json("{}"));
    // The system makes the connection; nobody ever speaks on it.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for scheme in ["http", "https"] {
        let mut settings = settings(&plain, cache.path());
        let route = format!("api.example.org={scheme}://{}", silent.local_addr().unwrap());
        settings.source = Source::Routes(vec![route.parse().unwrap()]);
        settings.api.request_seconds = 1;
        let client = WebClient::open_patiently(settings, RetryPolicy { tries: 2, ..hasty() }).unwrap();
        let expected = "BASE/x could not be reached: no complete answer within 1 seconds (tried 2 times)";
        assert_eq!(text(&client, "/x").await, expected, "{scheme}");
    }
}

#[tokio::test]
async fn a_route_may_lead_to_ipv6() {
    let Ok(server) = Server::on("[::1]:0", |_| json("6")) else {
        eprintln!("skipped: this machine has no IPv6 loopback");
        return;
    };
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(text(&open(settings(&server, cache.path())), "/x").await, "6");
}

/// A domain that is known by its path alone. The variables of a system are read by a process once, so that they take the
/// real program.
struct Home(TempDir);

const MANIFEST: &str = "[domain]\nname = 'far'\ntitle = 'x'\nplugin = 'standin'\n\
    [api]\nbase = 'https://api.example.org/public'\nhosts = ['api.example.org']\npace = { gap_ms = 0 }\n";

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("far")).unwrap();
        std::fs::write(home.path().join("far/domain.toml"), MANIFEST).unwrap();
        Self(home)
    }

    fn domain(&self) -> PathBuf {
        self.0.path().join("far")
    }

    /// What `workbench fetch` says of `/x`.
    fn fetch(&self, route: Option<&str>, variables: &[(&str, &str)]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
        command.arg("fetch").arg(self.domain()).arg("/x").arg("--results").arg(self.0.path().join("results"));
        command.arg("--fresh").env_remove("WORKBENCH_ROUTES").env_remove("REQUEST_METHOD");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        if let Some(to) = route {
            command.args(["--route", &format!("api.example.org={to}")]);
        }
        finish(command.envs(variables.iter().copied()), "")
    }
}

#[cfg(target_os = "linux")]
#[test]
fn certificates_are_checked() {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 6\r\n\r\n\"safe\"";
    let home = Home::new();
    let authority = tls::fixtures().join("ca.pem");
    for (certificate, words) in [
        ("good", "\"safe\""),
        ("expired", "invalid peer certificate: certificate expired: "),
        ("future", "invalid peer certificate: certificate not valid yet: "),
        ("other", "invalid peer certificate: certificate not valid for name"),
        ("self-signed", "invalid peer certificate: "),
    ] {
        let server = tls::start(certificate, ANSWER);
        let to = format!("https://localhost:{}", server.port());
        let outcome = home.fetch(Some(&to), &[("SSL_CERT_FILE", authority.to_str().unwrap())]);
        if certificate == "good" {
            assert_eq!((outcome.code, outcome.stdout.as_str()), (0, words), "{outcome:?}");
        } else {
            assert_eq!((outcome.code, outcome.stdout.as_str()), (5, ""), "{certificate}: {outcome:?}");
            assert!(outcome.stderr.contains(words), "{certificate}: {outcome:?}");
            assert!(!outcome.stderr.contains("tried"), "it is not tried again: {outcome:?}");
        }
    }
}

/// What a proxy answers, the variables (`P` is its address), the route, the outcome, and what the proxy was asked for.
struct Way {
    proxy: fn() -> Reply,
    variables: &'static [(&'static str, &'static str)],
    route: Option<&'static str>,
    words: &'static str,
    asked: &'static [&'static str],
}

fn far() -> Reply {
    json("\"by proxy\"")
}

fn wants_a_password() -> Reply {
    answer(407, &["proxy-authenticate: Basic realm=\"x\""], b"")
}

/// A label that no name may have: refused by the resolver itself, without a question to anybody.
const NOWHERE: Option<&str> = Some("http://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.invalid");
const MIRROR: Option<&str> = Some("http://mirror.invalid");
const TO_MIRROR: &[&str] = &["http://mirror.invalid/public/x"];
/// How often a connection is tried.
const TUNNELS: &[&str] = &["api.example.org:443"; 3];

const WAYS: &[Way] = &[
    Way {
        proxy: far,
        variables: &[("HTTP_PROXY", "http://P")],
        route: MIRROR,
        words: "\"by proxy\"",
        asked: TO_MIRROR,
    },
    Way { proxy: far, variables: &[("http_proxy", "P")], route: MIRROR, words: "\"by proxy\"", asked: TO_MIRROR },
    Way { proxy: far, variables: &[("ALL_PROXY", "http://P")], route: MIRROR, words: "\"by proxy\"", asked: TO_MIRROR },
    // Where a route leads to this machine, no proxy could follow.
    Way {
        proxy: far,
        variables: &[("HTTP_PROXY", "http://P")],
        route: Some("http://DIRECT"),
        words: "\"direct\"",
        asked: &[],
    },
    Way {
        proxy: far,
        variables: &[
            ("HTTP_PROXY", "http://P"),
            ("NO_PROXY", "other.example, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.invalid"),
        ],
        route: NOWHERE,
        words: "error: https://api.example.org/public/x could not be reached: failed to lookup address",
        asked: &[],
    },
    Way {
        proxy: wants_a_password,
        variables: &[("HTTP_PROXY", "http://P")],
        route: MIRROR,
        words: "error: https://api.example.org/public/x returned HTTP 407",
        asked: TO_MIRROR,
    },
    Way {
        proxy: wants_a_password,
        variables: &[("HTTPS_PROXY", "http://user:hidden@P")],
        route: None,
        words: "could not be reached: tunnel error: proxy authorization required (a proxy is set in `HTTPS_PROXY`)",
        asked: TUNNELS,
    },
    Way {
        proxy: || answer(502, &[], b""),
        variables: &[("HTTPS_PROXY", "http://P")],
        route: None,
        words: "could not be reached: tunnel error: unsuccessful (a proxy is set in `HTTPS_PROXY`)",
        asked: TUNNELS,
    },
    // The list of hosts holds behind a proxy as well.
    Way {
        proxy: || redirect("http://169.254.169.254/latest"),
        variables: &[("HTTP_PROXY", "http://P")],
        route: MIRROR,
        words: "redirects to http://169.254.169.254/latest, which is not allowed: `169.254.169.254` is not among",
        asked: TO_MIRROR,
    },
    Way {
        proxy: far,
        variables: &[("HTTP_PROXY", "http://CLOSED")],
        route: MIRROR,
        words: "Connection refused (os error 111) (a proxy is set in `HTTP_PROXY`)",
        asked: &[],
    },
    Way {
        // It is passed over.
        proxy: far,
        variables: &[("ALL_PROXY", "socks5://P")],
        route: NOWHERE,
        words: "(a proxy is set in `ALL_PROXY`; SOCKS is not supported)",
        asked: &[],
    },
];

#[cfg(target_os = "linux")]
#[test]
fn the_proxy_of_the_system_is_used_where_it_can_be() {
    let direct = Server::start(|_| json("\"direct\""));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let go = |way: &Way| {
        let answer = way.proxy;
        let proxy = Server::start(move |_| answer());
        let at = |text: &str| {
            text.replace('P', &format!("127.0.0.1:{}", proxy.port()))
                .replace("CLOSED", &closed.to_string())
                .replace("DIRECT", direct.url().trim_start_matches("http://"))
        };
        let variables: Vec<(&str, String)> = way.variables.iter().map(|(name, value)| (*name, at(value))).collect();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let outcome = Home::new().fetch(way.route.map(at).as_deref(), &variables);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains(way.words), "{variables:?}: {outcome:?}");
        assert!(!said.contains("hidden"), "a password is never shown: {outcome:?}");
        assert_eq!(outcome.code, if way.words.starts_with('"') { 0 } else { 5 }, "{variables:?}: {outcome:?}");
        let requests = proxy.requests();
        let targets: Vec<&str> = requests.iter().map(|request| request.target.as_str()).collect();
        assert_eq!(targets, way.asked, "{variables:?}");
        if way.variables.iter().any(|(_, value)| value.contains("hidden")) {
            assert!(requests[0].header("proxy-authorization").is_some());
        }
    };
    // Most of them wait between their tries.
    std::thread::scope(|scope| WAYS.iter().for_each(|way| _ = scope.spawn(move || go(way))));
}
