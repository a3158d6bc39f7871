//! Whatever a server of the Messages API does in place of an answer: tried again where that helps, told where it does not.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "embedded")]

#[path = "support/exhibit.rs"]
mod exhibit;
#[path = "support/messages_api/mod.rs"]
mod messages_api;
#[path = "support/program.rs"]
mod program;
#[path = "support/server.rs"]
mod server;

use std::time::{Duration, Instant};

use exhibit::{STANDIN, outcome, standin_run, text, turn};
use messages_api::{Fault, KEY, MessagesApi, Script};
use program::Program;
use serde_json::json;
use workbench::model::access;
use workbench::model::anthropic::Anthropic;
use workbench::model::exchange::Patience;
use workbench::model::provider::{Provider, ProviderOptions};
use workbench::model::types::{Block, Message, ModelError, ModelRequest, Role};

const AT_ONCE: &str = "retry-after: 0";
const JSON: &str = "content-type: application/json";

fn api() -> MessagesApi {
    MessagesApi::start(Script::of(&[turn(&[text("Done.")])]))
}

fn status(status: u16, kind: &'static str) -> Fault {
    Fault::Status(status, kind, vec![AT_ONCE])
}

fn an_error(kind: &str) -> String {
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"too much"}}}}"#)
}

/// Faults one after the other, the requests that are made, a part of what the run tells: of its retries where it came to its
/// end, else of why it did not.
fn cases() -> Vec<(&'static str, Vec<Fault>, usize, &'static str, bool)> {
    let raw = |status, headers: &[&'static str], body: &str| Fault::Raw(status, headers.to_vec(), body.to_owned());
    vec![
        (
            "429, twice",
            vec![status(429, "rate_limit_error"); 2],
            3,
            "status 429: rate_limit_error: as the test wants",
            true,
        ),
        ("529", vec![status(529, "overloaded_error")], 2, "status 529: overloaded_error", true),
        (
            "a date that is past",
            vec![Fault::Status(529, "overloaded_error", vec!["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"])],
            2,
            "status 529",
            true,
        ),
        (
            "milliseconds",
            vec![Fault::Status(529, "overloaded_error", vec!["retry-after-ms: 1", "retry-after: 900"])],
            2,
            "",
            true,
        ),
        ("408, 409", vec![status(408, "timeout"), status(409, "conflict_error")], 3, "status 408", true),
        ("500, 502", vec![status(500, "api_error"), status(502, "bad_gateway")], 3, "status 500: api_error", true),
        ("503, 504", vec![status(503, "unavailable"), status(504, "timeout_error")], 3, "status 503", true),
        (
            "the server says so",
            vec![Fault::Status(400, "odd", vec![AT_ONCE, "x-should-retry: true"])],
            2,
            "status 400: odd",
            true,
        ),
        ("half a body", vec![Fault::HalfBody], 2, "end of file", true),
        ("broken JSON", vec![Fault::BrokenJson], 2, "the answer is no JSON", true),
        ("a page", vec![Fault::Page], 2, "the answer is `text/html`, not JSON", true),
        ("broken JSON, twice", vec![Fault::BrokenJson; 2], 2, "the answer is no JSON", false),
        (
            "a page, twice",
            vec![Fault::Page; 2],
            2,
            "the answer is `text/html`, not JSON: it starts with “<h1>Sign in",
            false,
        ),
        (
            "529 without end",
            vec![status(529, "overloaded_error"); 9],
            6,
            "answered 529 (overloaded_error: as the test wants",
            false,
        ),
        (
            "a wait that is too long",
            vec![Fault::Status(429, "rate_limit_error", vec!["retry-after: 3600"])],
            1,
            "it wants to be left alone for 3600 s",
            false,
        ),
        (
            "what may be spent is spent",
            vec![raw(
                429,
                &[JSON],
                r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"},"message":"spent"}}"#,
            )],
            1,
            "answered 429 (rate_limit_error: spent): too much was asked, or the account has spent what it may",
            false,
        ),
        (
            "the server says it does not help",
            vec![Fault::Status(529, "overloaded_error", vec!["x-should-retry: false"])],
            1,
            "529",
            false,
        ),
        (
            "400",
            vec![status(400, "invalid_request_error")],
            1,
            "answered 400 (invalid_request_error: as the test wants; request req_test)",
            false,
        ),
        (
            "401",
            vec![status(401, "authentication_error")],
            1,
            "the key in `ANTHROPIC_API_KEY` is not one of this API",
            false,
        ),
        ("402", vec![status(402, "billing_error")], 1, "the account of the key cannot pay", false),
        ("403", vec![status(403, "permission_error")], 1, "the key in `ANTHROPIC_API_KEY` may not do this", false),
        ("404", vec![status(404, "not_found_error")], 1, "there is no model `claude-haiku-5-5`, or no such API", false),
        (
            "413 of a gateway",
            vec![raw(413, &[], "<h1>too large</h1>")],
            1,
            "answered 413 (no JSON, but “<h1>too large</h1>”): the conversation is too long",
            false,
        ),
        (
            "elsewhere",
            vec![raw(308, &["location: http://127.0.0.1:1/"], "")],
            1,
            "it sends elsewhere, to `http://127.0.0.1:1/`",
            false,
        ),
        (
            "an error with status 200 that may pass",
            vec![raw(200, &[JSON, AT_ONCE], &an_error("overloaded_error"))],
            2,
            "status 200: overloaded_error: too much",
            true,
        ),
        (
            "an error with status 200",
            vec![raw(200, &[JSON], &an_error("invalid_request_error"))],
            1,
            "answered 200 (invalid_request_error: too much): an error in the place of an answer",
            false,
        ),
        (
            "no JSON that is an object",
            vec![raw(200, &[JSON], "[]")],
            1,
            "the answer is not what the API promises",
            false,
        ),
    ]
}

#[test]
fn every_fault_is_tried_again_or_told() {
    let mut wrong = Vec::new();
    for (name, faults, requests, told, comes_to_its_end) in cases() {
        let (program, api) = (Program::new(), api());
        api.meet(faults);
        let (outcome, run) = standin_run(&program, &api, &["--mode", "loop"]);
        let made = api.served().iter().filter(|it| it.what == "messages").count();
        let (stop, words) = match comes_to_its_end {
            true => ("end_turn", run["retried"][0]["cause"].as_str()),
            false => ("model_error", run["stop_detail"].as_str()),
        };
        let is_so = run["stop"] == stop && words.is_some_and(|words| words.contains(told)) && made == requests;
        // A run that cannot be made again by itself says so with its exit.
        if !is_so || (outcome.code == 5) == comes_to_its_end || run["retries"] != made - usize::from(made > 0) {
            wrong.push(format!("{name}: {made} requests, {words:?}, {outcome:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As other servers, the API may refuse what a model can read no more; a mode that reads so much has come to its end, and
/// is no fault of anybody.
#[test]
fn a_conversation_that_grew_too_long_ends_with_what_it_has() {
    let refusal = |words| format!(r#"{{"error":{{"type":"invalid_request_error","message":"{words}"}}}}"#);
    let table = [
        (400, refusal("prompt is too long: 200001 tokens > 200000 maximum"), "200001 tokens > 200000 maximum"),
        (400, refusal("input length and `max_tokens` exceed context limit: 1 + 2 > 3"), "1 + 2 > 3"),
        (413, "<h1>too large</h1>".to_owned(), "the conversation is too long"),
    ];
    for (status, body, told) in table {
        let calls = turn(&[exhibit::call("noop", json!({ "x": 1 }))]);
        let (program, api) = (Program::new(), MessagesApi::start(Script::of(&[calls])));
        api.meet([Fault::Not, Fault::Raw(status, vec![JSON], body)]);
        let (outcome, run) = standin_run(&program, &api, &["--mode", "loop"]);
        assert_eq!((&run["stop"], &run["model_turns"]), (&json!("max_tokens"), &json!(1)), "{outcome:?}");
        assert!(run["stop_detail"].as_str().unwrap().contains(told), "{run:#}");
        assert!(run["verify"].is_object(), "it is judged as it stands: {run:#}");
    }
}

/// A provider that waits no longer than a test can.
fn provider(api: &MessagesApi, answer: Duration) -> Anthropic {
    let patience = Patience { tries: 2, first_wait: Duration::from_millis(1), answer, ..Patience::default() };
    let base = access::address(&api.url(), "the server").unwrap();
    Anthropic::new("claude-haiku-5-5", KEY, &base, &ProviderOptions::default(), patience).unwrap()
}

async fn ask(provider: &Anthropic, until: Option<Instant>) -> (Result<(), ModelError>, usize) {
    let messages = [Message { role: Role::User, content: vec![Block::Text { text: "Hello.".to_owned() }] }];
    let mut model = provider.open();
    let request =
        ModelRequest { system: "Be.", tools: &[], messages: &messages, max_tokens: 9, parallel_calls: true, until };
    let outcome = model.reply(request).await.map(|_| ());
    (outcome, model.take_retries().len())
}

#[tokio::test]
async fn patience_ends_at_its_bounds() {
    const LONG: Duration = Duration::from_secs(600);
    let soon = || Some(Instant::now() + Duration::from_millis(300));
    // An answer that takes too long is given up, and tried again once.
    let slow = api();
    slow.meet(vec![Fault::SlowBody; 2]);
    let (outcome, retries) = ask(&provider(&slow, Duration::from_millis(50)), None).await;
    let told = outcome.unwrap_err().to_string();
    assert!(
        told.contains("/v1/messages could not be asked: no whole answer within") && retries == 1,
        "{told} {retries}"
    );
    // The run's time is up while an answer is on its way, and before a wait is over.
    let slow = api();
    slow.meet([Fault::SlowBody]);
    let (outcome, _) = ask(&provider(&slow, LONG), soon()).await;
    assert!(matches!(outcome, Err(ModelError::OutOfTime)), "{outcome:?}");
    let busy = api();
    busy.meet([Fault::Status(529, "overloaded_error", vec!["retry-after: 100"])]);
    let (outcome, retries) = ask(&provider(&busy, LONG), Some(Instant::now() + Duration::from_secs(60))).await;
    assert!(matches!(outcome, Err(ModelError::OutOfTime)) && retries == 0, "{outcome:?}");
    // It is up before it began: nothing is asked, nothing paid.
    let idle = api();
    let (outcome, _) = ask(&provider(&idle, LONG), Some(Instant::now())).await;
    assert!(matches!(outcome, Err(ModelError::OutOfTime)) && idle.requests().is_empty(), "{outcome:?}");
}

#[test]
fn addresses_in_every_form_lead_to_the_api() {
    let api = api();
    for form in ["", "/", "/v1", "/v1/", "/proxy", "/proxy/v1/"] {
        let base = format!("{}{form}", api.url());
        let program = Program::new();
        let (outcome, run) = standin_run(&program, &api, &["--mode", "loop", "--base-url", &base]);
        assert_eq!(run["stop"], "end_turn", "{form}: {outcome:?}");
    }
    let program = Program::new();
    for (base, told) in [
        ("ftp://127.0.0.1/", "it does not begin with `http://` or `https://`"),
        (
            "127.0.0.1:8080",
            "`--base-url` is no address of an API: relative URL without a base; write it as `https://host/path`",
        ),
        ("http://me:secret@127.0.0.1/", "it holds a user or a password"),
        ("http://127.0.0.1/?key=secret", "it has a `?` or a `#`"),
    ] {
        let (outcome, _) = standin_run(&program, &api, &["--mode", "loop", "--base-url", base]);
        assert!(outcome.code == 2 && outcome.stderr.contains(told), "{base}: {outcome:?}");
        assert!(!outcome.stderr.contains("secret"), "{outcome:?}");
    }
}

/// A server that takes everything for a good request knows nothing of counts; one that is slow or busy is waited for a
/// short while, and told of.
#[tokio::test]
async fn a_look_wants_an_answer_and_waits_for_it_in_bounds() {
    let (program, api) = (Program::new(), api());
    let ask = |url: &str, more: &[&str]| {
        outcome(&program, &api, &[more, &["--model", "anthropic:claude-haiku-5-5", "--base-url", url]].concat())
    };
    let yes = server::Server::start(|_| server::answer(200, &[JSON], b"{\"ok\": true}"));
    let refused = ask(&yes.url(), &["run", STANDIN]);
    let told = "/v1/messages/count_tokens answers, but is no Messages API, which counts `input_tokens`; look at \
                `--base-url` (it says {\"ok\": true})";
    assert!(refused.code == 5 && refused.stderr.contains(told), "{refused:?}");
    assert!(yes.requests().iter().all(|request| request.target != "/v1/messages"), "nothing is paid for");

    let busy =
        server::Server::start(|_| server::answer(529, &[JSON, AT_ONCE], an_error("overloaded_error").as_bytes()));
    let refused = ask(&busy.url(), &["doctor"]);
    let address = format!("{}/v1/models/claude-haiku-5-5", busy.url());
    let told = format!("{address} is asked again: status 529: overloaded_error: too much\n");
    assert_eq!((refused.stderr.matches(&told).count(), busy.requests().len()), (2, 3), "{refused:?}");

    let slow = server::Server::start(|request| match request.method.as_str() {
        "GET" => server::answer(404, &[], b""),
        _ => {
            server::Reply::Endless(server::head(200, &[JSON], Some(1 << 20)), b" ".to_vec(), Duration::from_millis(20))
        }
    });
    let patience =
        Patience { first_wait: Duration::from_millis(1), answer: Duration::from_millis(50), ..Patience::default() };
    let base = access::address(&slow.url(), "the server").unwrap();
    let model = Anthropic::new("x", KEY, &base, &ProviderOptions::default(), patience).unwrap();
    let told = model.check().await.unwrap_err().to_string();
    assert!(told.contains("count_tokens could not be asked: no whole answer within"), "{told}");
    assert_eq!(slow.requests().len(), 1 + 3);

    // One that counts the same whatever it is sent.
    let same = server::Server::start(|_| server::answer(200, &[JSON], b"{\"input_tokens\": 7}"));
    let counted = ask(&same.url(), &["tools", STANDIN, "--count"]);
    let told = "anthropic:claude-haiku-5-5 counts the same with tools and system text as without them";
    assert!(counted.code == 0 && counted.stderr.matches(told).count() == 1, "{counted:?}");
    assert!(counted.stdout.lines().skip(1).all(|line| line.matches('≈').count() == 3), "{counted:?}");
}

/// What the look before the first run finds; nothing is run, and no message is paid for.
#[test]
fn a_run_that_cannot_be_is_refused_before_it_begins() {
    let (program, api) = (Program::new(), api());
    let run = |model: &str| outcome(&program, &api, &["compare", STANDIN, "--model", model]);
    let unknown = run("anthropic:claude-haiku-5-6");
    let told = "answered 404 (not_found_error: model: claude-haiku-5-6; request req_test): there is no model \
                `claude-haiku-5-6`, or no such API at this address; look at both; did you mean `claude-haiku-5-5`?";
    assert!(unknown.code == 5 && unknown.stderr.contains(told), "{unknown:?}");
    let odd = run("anthropic:../a b%?x#y");
    assert!(odd.code == 5 && odd.stderr.contains("there is no model `../a b%?x#y`"), "{odd:?}");
    assert!(api.requests().iter().any(|it| it.target == "/v1/models/..%2Fa%20b%25%3Fx%23y"), "{:?}", api.served());
    assert_eq!(api.turns().len(), 0);
    assert_eq!(std::fs::read_dir(program.results()).unwrap().count(), 0, "no folder of results");
    // A server that is no such API at all.
    let other = server::Server::start(|_| server::answer(404, &["content-type: text/html"], b"<h1>Hi</h1>"));
    let lost = outcome(&program, &api, &["run", STANDIN, "--model", "anthropic:x", "--base-url", &other.url()]);
    assert!(lost.code == 5 && lost.stderr.contains("answered 404 (no JSON, but “<h1>Hi</h1>”)"), "{lost:?}");
    let page = server::Server::start(|_| server::answer(200, &["content-type: text/html"], b"<h1>Hi</h1>"));
    let lost = outcome(&program, &api, &["run", STANDIN, "--model", "anthropic:x", "--base-url", &page.url()]);
    assert!(lost.code == 5 && lost.stderr.contains("/v1/models/x: the answer is no JSON"), "{lost:?}");
}

#[test]
fn doctor_asks_for_a_model_and_tells_of_keys_without_showing_them() {
    let (program, api) = (Program::new(), api());
    let sound = outcome(&program, &api, &["doctor", "--model", "anthropic:claude-sonnet-5-5"]);
    for line in [
        "ok:      key of anthropic: `ANTHROPIC_API_KEY` is set\n",
        "unset:   key of openrouter: `OPENROUTER_API_KEY` is not set\n",
        "unset:   key of ollama: `OLLAMA_API_KEY` is not set; a server on this machine needs none\n",
        "serves A Model (claude-sonnet-5-5), reads 1000000 tokens, writes 128000 tokens; thinking least: between tools\n",
    ] {
        assert!(sound.stdout.contains(line), "{line}: {sound:?}");
    }
    assert_eq!(sound.code, 0, "{sound:?}");
    let unknown = outcome(&program, &api, &["doctor", "--model", "anthropic:nope", "--format", "json"]);
    let checks: serde_json::Value = serde_json::from_str(&unknown.stdout).unwrap();
    let last = checks.as_array().unwrap().last().unwrap();
    assert_eq!([&last["name"], &last["state"]], [&json!("model anthropic:nope"), &json!("missing")]);
    assert_eq!(unknown.code, 1);
    for outcome in [&sound, &unknown] {
        assert!(!outcome.stdout.contains(KEY) && !outcome.stderr.contains(KEY), "{outcome:?}");
    }
    // What a server says of a model stands on the line of the model.
    let words = br#"{"display_name":"A\nok:      forged","retires_at":"now\nhint: forged","input_tokens":1}"#;
    let forger = server::Server::start(|_| server::answer(200, &["content-type: application/json"], words));
    let forged = outcome(&program, &api, &["doctor", "--model", "anthropic:x", "--base-url", &forger.url()]);
    let is_forged = |line: &str| line.starts_with("ok:      forged") || line.starts_with("hint: forged");
    assert!(forged.stdout.contains("serves A\\nok: ") && !forged.stdout.lines().any(is_forged), "{forged:?}");
    // An old model: it serves, and takes no word about effort.
    let old = outcome(&program, &api, &["tools", STANDIN, "--count", "--model", "anthropic:claude-haiku-4-5"]);
    let told = "warning: anthropic:claude-haiku-4-5: the model retires at 2027-06-30T00:00:00Z\n";
    assert_eq!((old.code, old.stderr.as_str()), (0, told), "{old:?}");
    assert_eq!(api.turns().len(), 0, "nothing is paid for");
}

#[test]
fn tools_are_counted_by_the_provider_or_here() {
    let (program, api) = (Program::new(), api());
    let counted = |more: &[&str]| {
        let outcome = outcome(&program, &api, &[&["tools", STANDIN, "--count"], more].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
        outcome.stdout
    };
    let json = |more: &[&str]| -> Vec<serde_json::Value> {
        serde_json::from_str(&counted(&[&["--format", "json"], more].concat())).unwrap()
    };
    let (here, there) = (json(&[]), json(&exhibit::MODEL));
    for (counts, estimated) in [(&here, true), (&there, false)] {
        for (count, mode) in counts.iter().zip(["serial", "loop", "code"]) {
            assert_eq!([&count["mode"], &count["estimated"]], [&json!(mode), &json!(estimated)]);
            let tokens = |key: &str| count[key].as_u64().unwrap();
            assert_eq!(tokens("system") + tokens("tools"), tokens("total"));
            assert!(tokens("system") > 0 && tokens("tools") > 0, "{count}");
        }
        assert!(counts[1]["tools"].as_u64() > counts[2]["tools"].as_u64(), "code mode has one tool");
        assert!(counts[1]["system"].as_u64() < counts[2]["system"].as_u64(), "and the others in its system text");
    }
    assert_ne!(here[1]["total"], there[1]["total"], "each by its own rule");
    assert!(counted(&[]).contains('≈') && !counted(&exhibit::MODEL).contains('≈'));
    assert_eq!(api.turns().len(), 0, "nothing is paid for");
}
