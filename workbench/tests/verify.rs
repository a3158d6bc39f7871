//! Verdicts over small folders of artifacts.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/folder.rs"]
mod folder;

use folder::DomainFolder;
use serde_json::{Value, json};
use workbench::results::format::RuleStatus;
use workbench::verify::{Fetch, Judgement, judge};

const GALLERY: &str = r#"<html><head><title>Cats</title><style>p { color: red }</style></head><body>
<h1>Cats   in the <b>Met</b></h1>
<figure><img src="11.jpg"><figcaption>One</figcaption></figure>
<figure><img src="12.jpg"><a href="https://example.org/12">Two</a></figure>
<figure><img src="logo.png"></figure></body></html>"#;

const IDS: &str = r#"ids = { html = "exhibit.html", select = "figure img", attribute = "src", pattern = '^(\d+)\.jpg$', as = "int" }"#;

/// A domain with this evidence and one rule for each check.
fn domain(evidence: &str, checks: &[&str]) -> DomainFolder {
    let rules: String = checks
        .iter()
        .enumerate()
        .map(|(number, check)| format!("[[verify]]\nname = \"{number}\"\ncheck = '''{check}'''\n"))
        .collect();
    DomainFolder::new(&format!(
        "[domain]\nname = \"case\"\ntitle = \"Case\"\nplugin = \"case\"\n\
         [api]\nbase = \"https://api.example\"\nhosts = [\"api.example\"]\n\
         [evidence]\n{evidence}\n{rules}"
    ))
}

async fn judged(domain: &DomainFolder, recorded: &Value) -> Judgement {
    judge(&domain.load().unwrap(), &domain.out(), Fetch::Recorded(recorded)).await
}

fn recorded(answers: Value) -> Value {
    json!({ "format": "workbench/evidence/v1", "answers": answers })
}

fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(width, height).write_to(&mut bytes, image::ImageFormat::Jpeg).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn a_page_and_what_it_names_are_judged() {
    let evidence = format!(
        "page = {{ html = 'exhibit.html' }}\n{IDS}\n\
         captions = {{ html = 'exhibit.html', select = 'figcaption' }}\n\
         images = {{ image = '{{{{ item }}}}.jpg', each = 'ids' }}\n\
         objects = {{ get = '/v1/objects/{{{{ item }}}}', each = 'ids' }}\n\
         notes = {{ json = 'notes.json' }}\nlog = {{ text = 'log.txt' }}\nsheet = {{ file = 'sheet.jpg' }}"
    );
    let checks = [
        "ids == [11, 12]",
        "page.title == 'Cats' and page.headings == ['Cats in the Met'] and 'color' not in page.text",
        "page.links == ['https://example.org/12'] and page.images == ['11.jpg', '12.jpg', 'logo.png']",
        "captions == ['One']",
        "images|map(attribute='width')|list == [20, 30] and images[1].format == 'jpeg' and images[0].file == '11.jpg'",
        "objects|map(attribute='title')|list == ['A', 'B']",
        "notes.count == 2 and log|trim == 'done' and sheet.bytes > 100",
    ];
    let domain = domain(&evidence, &checks);
    domain.artifact("exhibit.html", GALLERY);
    domain.artifact("11.jpg", picture(20, 10));
    domain.artifact("12.jpg", picture(30, 10));
    domain.artifact("sheet.jpg", picture(40, 10));
    domain.artifact("notes.json", r#"{"count": 2}"#);
    domain.artifact("log.txt", "done\n");
    let answers = recorded(json!({
        "/v1/objects/11": { "json": { "title": "A" } },
        "/v1/objects/12": { "json": { "title": "B" } },
    }));

    let judgement = judged(&domain, &answers).await;

    let fallen: Vec<_> = judgement.verdict.rules.iter().filter(|rule| rule.status != RuleStatus::Pass).collect();
    assert!(fallen.is_empty(), "{fallen:#?}");
    assert!(judgement.verdict.ok);
    assert_eq!((judgement.verdict.points, judgement.verdict.max_points), (7.0, 7.0));
    assert_eq!(judgement.evidence, answers);
}

/// What the model did not make, or made badly, fails the rules that need it and no others.
#[tokio::test]
async fn what_is_missing_fails_what_depends_on_it() {
    let bad_page = "<figure><img src='x1.jpg'></figure>";
    /// Evidence, the artifacts there are, and what stands beside the failed rule.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
    let cases: &[Case<'_>] = &[
        (IDS, &[], "exhibit.html is missing"),
        (
            "ids = { html = 'exhibit.html', select = 'img', attribute = 'src', as = 'int' }",
            &[("exhibit.html", bad_page)],
            "exhibit.html has `x1.jpg` where a whole number should be",
        ),
        (
            "ids = { json = 'ids.json' }",
            &[("ids.json", "[1, ")],
            "ids.json is not JSON: EOF while parsing a value at line 1 column 4",
        ),
        ("ids = { image = 'a.jpg' }", &[("a.jpg", "<html>not found</html>")], "a.jpg is no picture"),
        ("ids = { text = '../../secret' }", &[], "`../../secret` is no name of a file in the run's out/"),
        ("ids = { text = '/etc/hostname' }", &[], "`/etc/hostname` is no name of a file in the run's out/"),
        ("ids = { text = 'notes.txt/x' }", &[("notes.txt", "")], "notes.txt/x is missing"),
        (
            "a = { json = 'a.json' }\nids = { text = '{{ item }}', each = 'a' }",
            &[("a.json", r#"["1", "2", "3"]"#), ("2", "")],
            "2 of 3 missing: 1 is missing; 3 is missing",
        ),
        (
            "a = { json = 'a.json' }\nids = { get = '/o/{{ item }}', each = 'a' }",
            &[("a.json", "[7]")],
            "https://api.example/o/7 returned HTTP 404: no such object",
        ),
    ];
    let answers =
        recorded(json!({ "/o/7": { "missing": "https://api.example/o/7 returned HTTP 404: no such object" } }));
    for (evidence, artifacts, got) in cases {
        let domain = domain(evidence, &["ids|length >= 0", "1 == 1"]);
        for (name, content) in *artifacts {
            domain.artifact(name, content);
        }
        let verdict = judged(&domain, &answers).await.verdict;
        let found = (verdict.rules[0].status, verdict.rules[0].got.as_str());
        assert_eq!(found, (RuleStatus::Fail, Some(*got)), "{evidence}");
        assert_eq!(verdict.rules[1].status, RuleStatus::Pass, "{evidence}");
        assert_eq!((verdict.ok, verdict.points, verdict.max_points), (false, 1.0, 2.0), "{evidence}");
    }
}

/// Faults that are not the model's are neither pass nor fail, unless the model's own decide first.
#[tokio::test]
async fn faults_are_errors_and_count_neither_way() {
    let evidence = "ids = { html = 'p', select = 'i', as = 'int' }\n\
                    page = { html = 'p' }\n\
                    records = { get = '/o/{{ item }}', each = 'ids' }\n\
                    pictures = { image = '{{ item }}.jpg', each = 'ids' }\n\
                    many = { text = '{{ item }}', each = 'page' }\n\
                    strange = { get = '/o/{{ item.id }}', each = 'ids' }";
    let cases = [
        ("records|length == 1", RuleStatus::Error, "https://api.example/o/7 could not be reached: refused"),
        ("pictures|length == 1 and records|length == 1", RuleStatus::Fail, "7.jpg is missing"),
        ("many|length == 1", RuleStatus::Error, "`each` wants a list, but `page` is none"),
        (
            "strange|length == 1",
            RuleStatus::Error,
            "`/o/{{ item.id }}`: `item.id` is undefined (`item.id` at character 7)",
        ),
        (
            "ids|map(attribute='nosuch')|list|length == 1",
            RuleStatus::Error,
            "`ids|map(attribute='nosuch')|list|length == 1`: item 0 has no `nosuch` (it is a number) \
             (`map(attribute='nosuch')` at character 5)",
        ),
        ("ids|length", RuleStatus::Error, "`ids|length`: must be true or false, but is 1"),
    ];
    let domain = domain(evidence, &cases.map(|(check, ..)| check));
    domain.artifact("p", "<i>7</i>");
    let answers = recorded(json!({ "/o/7": { "fault": "https://api.example/o/7 could not be reached: refused" } }));

    let verdict = judged(&domain, &answers).await.verdict;

    for (rule, (check, status, got)) in verdict.rules.iter().zip(cases) {
        assert_eq!((rule.status, rule.got.as_str()), (status, Some(got)), "{check}");
    }
    assert_eq!((verdict.ok, verdict.points, verdict.max_points), (false, 0.0, 1.0));

    let unrecorded = judged(&domain, &recorded(json!({}))).await.verdict;
    assert_eq!(unrecorded.rules[0].got, "evidence.json has no answer for /o/7; judge again with the API");
}

/// A model cannot make a rule uncountable by a file that the rule cannot work on.
#[tokio::test]
async fn a_rule_that_fails_on_what_the_model_made_fails() {
    let evidence = "team = { json = 'team.json' }\n\
                    ids = { html = 'page.html', select = 'i', as = 'int' }\n\
                    names = { html = 'page.html', select = 'b' }\n\
                    members = { get = '/m/{{ item.id }}', each = 'team' }\n\
                    records = { get = '/m/{{ item }}', each = 'names' }\n\
                    numbers = { json = 'numbers.json' }\n\
                    scaled = { value = 'item * 2 if item > 1 else 0', each = 'numbers' }";
    let cases = [
        ("team|map(attribute='name')|list|length == 6", "item 0 has no `name` (it is a string)"),
        ("team[0].leader", "must be true or false, but is undefined"),
        ("ids|min > 0", "an empty list has no smallest item"),
        ("names|map('float')|sum > 0", "invalid float literal"),
        ("members|length == 6", "`/m/{{ item.id }}`: `item.id` is undefined (`item.id` at character 7)"),
        ("records|length == 1", "`/m/{{ item }}`: `..` cannot be part of a path"),
        ("numbers[0] >= 500", "`>=` wants two numbers or two texts, but got the text `few` and the number 500"),
        ("0 < numbers[1] < 9", "`<` wants two numbers or two texts, but got the number 0 and a list"),
        (
            "numbers|max > 3",
            "`max` wants numbers only or texts only, but item 1 is a list, and item 0 is the text `few`",
        ),
        ("numbers|length == 2 and numbers|select('lt', 3)|list", "`<` wants two numbers or two texts, but got"),
        ("scaled|length == 2", "`>` wants two numbers or two texts, but got the text `few` and the number 1"),
        ("numbers[2] > 1", "is undefined"),
    ];
    let domain = domain(evidence, &cases.map(|(check, _)| check));
    domain.artifact("numbers.json", r#"["few", []]"#);
    domain.artifact("team.json", r#"["eevee"]"#);
    domain.artifact("page.html", "<b>..</b>");
    let verdict = judged(&domain, &Value::Null).await.verdict;
    for (rule, (check, got)) in verdict.rules.iter().zip(cases) {
        assert_eq!(rule.status, RuleStatus::Fail, "{check}");
        assert!(rule.got.as_str().unwrap().contains(got), "{check}: {}", rule.got);
    }
}

/// `value` says of each item what a rule then says of all, and lacks what it is made of.
#[tokio::test]
async fn evidence_is_made_of_other_evidence() {
    let evidence = "ids = { html = 'page.html', select = 'i', as = 'int' }\n\
                    names = { html = 'page.html', select = 'b' }\n\
                    records = { get = '/o/{{ item }}', each = 'ids' }\n\
                    sums = { value = \"item.parts|map(attribute='n')|sum\", each = 'records' }\n\
                    all_kinds = { value = '[]|chain(*kinds)|list' }\n\
                    kinds = { value = \"item.parts|map(attribute='kind')|list\", each = 'records' }\n\
                    counts = { value = \"{'kind': item, 'n': all_kinds|select('eq', item)|list|length}\", each = 'distinct' }\n\
                    distinct = { value = 'all_kinds|unique|list' }\n\
                    gone = { text = 'gone.txt' }\n\
                    from_gone = { value = 'gone|length + ids|length' }\n\
                    down = { get = '/down' }\n\
                    from_down = { value = 'down.n' }\n\
                    numbers = { value = \"item|int\", each = 'names' }\n\
                    again = { value = 'numbers|sum' }\n\
                    wrong = { value = 'item.nosuch', each = 'records' }\n\
                    no_list = { value = 'item', each = 'one' }\n\
                    one = { value = 'ids|length' }";
    let cases = [
        ("sums == [5, 4]", RuleStatus::Pass, ""),
        ("kinds == [['a', 'b'], ['b']]", RuleStatus::Pass, ""),
        ("counts == [{'kind': 'a', 'n': 1}, {'kind': 'b', 'n': 2}]", RuleStatus::Pass, ""),
        ("counts|selectattr('n', 'gt', 1)|list|length == 0", RuleStatus::Fail, ""),
        ("from_gone > 0", RuleStatus::Fail, "gone.txt is missing"),
        ("from_down > 0", RuleStatus::Error, "no answer for /down"),
        ("numbers|sum > 0", RuleStatus::Fail, "`item|int`: invalid"),
        ("again > 0", RuleStatus::Fail, "`item|int`: invalid"),
        ("wrong|length > 0", RuleStatus::Error, "`item.nosuch` is undefined"),
        ("no_list|length > 0", RuleStatus::Error, "`each` wants a list, but `one` is none"),
    ];
    let domain = domain(evidence, &cases.map(|(check, ..)| check));
    domain.artifact("page.html", "<i>1</i><i>2</i><b>x</b>");
    let answers = recorded(json!({
        "/o/1": { "json": { "parts": [{ "kind": "a", "n": 2 }, { "kind": "b", "n": 3 }] } },
        "/o/2": { "json": { "parts": [{ "kind": "b", "n": 4 }] } },
    }));
    let verdict = judged(&domain, &answers).await.verdict;
    for (rule, (check, status, got)) in verdict.rules.iter().zip(cases) {
        assert_eq!(rule.status, status, "{check}: {}", rule.got);
        assert!(rule.got.to_string().contains(got), "{check}: {}", rule.got);
    }
}

#[tokio::test]
async fn got_is_shown_beside_every_rule() {
    let cases = [
        ("", json!(true)),
        ("got = 'numbers|sum / 3'", json!(0.2)),
        ("got = 'numbers|map(\"string\")|map(\"length\")'", json!([3, 3, 3])),
        ("got = 'words'", json!({ "b": 1, "a": [null, true] })),
        ("got = 'gone|length'", json!("gone.txt is missing")),
        (
            "got = 'words.nosuch.deeper'",
            json!(
                "`words.nosuch.deeper`: `words.nosuch` is undefined; `words` has b, a (`.nosuch.deeper` at character 6)"
            ),
        ),
    ];
    for (got, expected) in cases {
        let folder = DomainFolder::new(&format!(
            "[domain]\nname = 'case'\ntitle = 'Case'\nplugin = 'case'\n[evidence]\nnumbers = {{ json = 'n.json' }}\n\
             words = {{ json = 'w.json' }}\ngone = {{ text = 'gone.txt' }}\n\
             [[verify]]\nname = 'x'\ncheck = 'numbers|length == 3'\n{got}"
        ));
        folder.artifact("n.json", "[0.1, 0.2, 0.3]");
        folder.artifact("w.json", r#"{"b": 1, "a": [null, true]}"#);
        let verdict = judged(&folder, &Value::Null).await.verdict;
        assert_eq!((verdict.rules[0].status, &verdict.rules[0].got), (RuleStatus::Pass, &expected), "{got}");
    }
}

#[tokio::test]
async fn a_long_got_is_cut_and_no_rules_are_no_success() {
    let domain = DomainFolder::new(
        "[domain]\nname = 'case'\ntitle = 'Case'\nplugin = 'case'\n[evidence]\nlog = { text = 'log.txt' }\n\
         [[verify]]\nname = 'x'\ncheck = 'log|length > 0'\ngot = 'log'",
    );
    domain.artifact("log.txt", "é".repeat(100_000));
    let got = judged(&domain, &Value::Null).await.verdict.rules[0].got.clone();
    assert!(got.as_str().unwrap().len() < 2_100);

    let empty = DomainFolder::new("[domain]\nname = 'case'\ntitle = 'Case'\nplugin = 'case'");
    assert!(!judged(&empty, &Value::Null).await.verdict.ok);
}
