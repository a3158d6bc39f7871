//! Verdicts that need the API's records: what its answers mean for the rules, and that a verdict can
//! be repeated from what was kept of them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/folder.rs"]
mod folder;

use folder::DomainFolder;
use serde_json::json;
use workbench::results::format::RuleStatus;
use workbench::verify::{Fetch, judge};
use workbench::web::{CassetteWriter, Origin, RawAnswer, Source, WebClient, WebSettings};

/// A domain whose page names these ids, and a client over a cassette with these answers.
fn domain(ids: &[&str], answers: &[(&str, u16, &str)], check: &str) -> (DomainFolder, WebClient) {
    let folder = DomainFolder::new(&format!(
        "[domain]\nname = 'case'\ntitle = 'Case'\nplugin = 'case'\n\
         [api]\nbase = 'https://api.example/v1'\nhosts = ['api.example']\n\
         [evidence]\nids = {{ html = 'page.html', select = 'li' }}\n\
         records = {{ get = '/objects/{{{{ item }}}}', each = 'ids' }}\n\
         [[verify]]\nname = 'x'\ncheck = '''{check}'''\n"
    ));
    let page: String = ids.iter().map(|id| format!("<li>{id}</li>")).collect();
    folder.artifact("page.html", page);
    let cassette = folder.domain().join("cassette");
    let mut writer = CassetteWriter::open(&cassette).unwrap();
    for (id, status, body) in answers {
        let answer = RawAnswer {
            url: format!("https://api.example/v1/objects/{id}"),
            status: *status,
            content_type: "application/json".to_owned(),
            body: body.as_bytes().to_vec().into(),
            origin: Origin::Network,
        };
        writer.add(&answer).unwrap();
    }
    writer.save().unwrap();
    let web = WebClient::open(WebSettings {
        api: folder.load().unwrap().manifest.api,
        cassette: Some(cassette),
        source: Source::Cassette,
        offline: true,
        cache: folder.path().join("cache"),
        injections: Vec::new(),
    })
    .unwrap();
    (folder, web)
}

#[tokio::test]
async fn records_come_in_the_order_of_the_ids_and_each_is_asked_for_once() {
    let answers = [("a", 200, r#"{"n": 1}"#), ("b%20c", 200, r#"{"n": 2}"#)];
    let check = "records|map(attribute='n')|list == [2, 1, 2, 2]";
    let (folder, web) = domain(&["b c", "a", "b c", "b c"], &answers, check);

    let judgement = judge(&folder.load().unwrap(), &folder.out(), Fetch::Web(&web)).await;

    assert!(judgement.verdict.ok, "{:?}", judgement.verdict);
    assert_eq!((web.counters().network_calls, web.counters().cache_hits), (0, 2));
    assert_eq!(
        judgement.evidence,
        json!({
            "format": "workbench/evidence/v1",
            "answers": { "/objects/a": { "json": { "n": 1 } }, "/objects/b%20c": { "json": { "n": 2 } } },
        })
    );
}

#[tokio::test]
async fn an_unknown_id_fails_and_a_fault_of_the_api_does_not() {
    let cases = [
        (404, r#"{"message": "no such object"}"#, RuleStatus::Fail, "HTTP 404: no such object"),
        (410, r#"{"message": "gone"}"#, RuleStatus::Fail, "HTTP 410: gone"),
        (400, r#"{"message": "ids are numbers"}"#, RuleStatus::Fail, "HTTP 400: ids are numbers"),
        (401, "{}", RuleStatus::Error, "HTTP 401"),
        (403, "{}", RuleStatus::Error, "HTTP 403"),
        (429, "{}", RuleStatus::Error, "HTTP 429"),
        (503, "{}", RuleStatus::Error, "HTTP 503"),
        (200, "[1, ", RuleStatus::Error, "JSON"),
    ];
    for (status, body, expected, text) in cases {
        let (folder, web) = domain(&["7"], &[("7", status, body)], "records|length == 1");
        let loaded = folder.load().unwrap();

        let judgement = judge(&loaded, &folder.out(), Fetch::Web(&web)).await;

        let rule = &judgement.verdict.rules[0];
        assert_eq!(rule.status, expected, "{status}");
        assert!(rule.got.as_str().unwrap().contains(text), "{status}: {}", rule.got);
        let repeated = judge(&loaded, &folder.out(), Fetch::Recorded(&judgement.evidence)).await;
        assert_eq!(repeated.verdict, judgement.verdict, "{status}");
        assert_eq!(repeated.evidence, judgement.evidence, "{status}");
    }
}

/// Without the network nobody knows whether the id exists.
#[tokio::test]
async fn an_id_that_is_not_recorded_is_an_error() {
    let (folder, web) = domain(&["7", "8"], &[("7", 200, "{}")], "records|length == 2");
    let verdict = judge(&folder.load().unwrap(), &folder.out(), Fetch::Web(&web)).await.verdict;
    assert_eq!(verdict.rules[0].status, RuleStatus::Error);
    assert!(verdict.rules[0].got.as_str().unwrap().contains("/objects/8"), "{}", verdict.rules[0].got);
}

/// The model chose a record whose value is of another kind than the rule expects: that is no way out of the rule. A
/// comparison that no record could make is a broken rule.
#[tokio::test]
async fn a_chosen_record_that_cannot_be_compared_fails() {
    let record = r#"{"year": null, "name": "a"}"#;
    for (check, expected, text) in [
        (
            "records[0].year >= 1700",
            RuleStatus::Fail,
            "`>=` wants two numbers or two texts, but got `none` and the number 1700",
        ),
        (
            "records|selectattr('year', 'lt', 1700)|list|length == 0",
            RuleStatus::Fail,
            "`<` wants two numbers or two texts",
        ),
        (
            "records|min(attribute='year') == 1",
            RuleStatus::Fail,
            "`min` wants numbers only or texts only, but item 0 is `none`",
        ),
        ("records[0].nosuch >= 1700", RuleStatus::Error, "is undefined"),
        ("records|map(attribute='nosuch')|list|length == 1", RuleStatus::Error, "item 0 has no `nosuch`"),
    ] {
        let (folder, web) = domain(&["7"], &[("7", 200, record)], check);
        let verdict = judge(&folder.load().unwrap(), &folder.out(), Fetch::Web(&web)).await.verdict;
        assert_eq!(verdict.rules[0].status, expected, "{check}: {}", verdict.rules[0].got);
        assert!(verdict.rules[0].got.as_str().unwrap().contains(text), "{check}: {}", verdict.rules[0].got);
    }
}
