//! Expressions of rules and probes: what works, and what must be an error instead of passing in
//! silence.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::json;
use workbench::expression::truth;

fn evidence() -> Value {
    Value::from(Serde(json!({
        "ids": [3, 1, 2, 12],
        "texts": ["12", "a"],
        "none_at_all": [],
        "page": { "title": "Cats in the Met", "text": "Cats in the Met by nobody" },
        "objects": [
            { "objectName": "Netsuke", "year": 1700, "dept": "Asia", "tags": [{ "term": "Cats" }], "open": true },
            { "objectName": "Print", "year": 1705, "dept": "Prints", "tags": [{ "term": "Dogs" }], "open": true },
            { "objectName": "netsuke", "year": 1710, "dept": "Asia", "tags": [{ "term": "Cats" }], "open": false },
        ],
        "status": 200,
        "big": 9_007_199_254_740_993_u64,
    })))
}

#[test]
fn these_are_true() {
    let expressions = [
        "ids|length == 4",
        "ids|sum / ids|length == 4.5",
        "ids|min == 1 and ids|max == 12",
        "ids|sort == [1, 2, 3, 12]",
        "ids|unique|list|length == 4",
        "3 < ids|length + 1 < 20",
        "12 in ids and 13 not in ids",
        "objects|map(attribute='objectName')|unique|list|length == 2",
        "objects|map(attribute='objectName')|unique(case_sensitive=true)|list|length == 3",
        "objects|map(attribute='nosuch', default=0)|sum == 0",
        "objects|map(attribute='tags.0.term')|list == ['Cats', 'Dogs', 'Cats']",
        "objects|sum(attribute='year') == 5115",
        "objects|selectattr('open')|list|length == 2",
        "objects|rejectattr('open')|list|length == 1",
        "objects|selectattr('year', '>', 1700)|list|length == 2",
        "objects|selectattr('objectName', 'matches', '(?i)^net')|list|length == 2",
        "objects|sort(attribute='dept, year', reverse=true)|map(attribute='year')|first == 1705",
        "objects|groupby('dept')|length == 2",
        "objects|groupby(attribute='dept')|map(attribute='grouper')|list == ['Asia', 'Prints']",
        "objects|groupby('nosuch', default='x')|length == 1",
        "objects|min(attribute='year') == objects[0]",
        "(objects|max(attribute='year'))['year'] == 1710",
        "objects|unique(attribute='dept')|list|length == 2",
        "objects|join(', ', attribute='dept') == 'Asia, Prints, Asia'",
        "objects[0]|attr('year') == 1700",
        "'Met' in page.text and page.title is startingwith('Cats')",
        "page.title is matches('^Cats .* Met$') and page.title|matches('Met')",
        "all(objects|map(attribute='year')|map('int')|map('string')|map('matches', '^17'))",
        "not all(objects|map(attribute='open')) and any(objects|map(attribute='open'))",
        "[true, true]|all and not ([]|any) and []|all",
        "none_at_all|map(attribute='x')|list == [] and none_at_all|sum == 0",
        "status == 200 and big == 9007199254740993",
        "(0.1 + 0.2)|round(2) == 0.3",
        "page.nosuch is undefined and page.nosuch|default('x') == 'x'",
    ];
    for expression in expressions {
        assert_eq!(truth(expression, evidence()), Ok(true), "{expression}");
    }
}

/// The stock minijinja calls these false, and so do we: the manifest has to convert (`as = "int"`).
#[test]
fn these_are_false_though_they_look_true() {
    for expression in ["texts[0] == 12", "ids < 'a'", "0.1 + 0.2 == 0.3"] {
        assert_eq!(truth(expression, evidence()), Ok(false), "{expression}");
    }
}

/// Each of these would be true, or silently false, in the stock minijinja.
#[test]
fn wrong_rules_are_errors() {
    let expressions = [
        "objects|map(attribute='nosuch')|list|length == 3",
        "objects|map('attr', 'nosuch')|list|length == 3",
        "objects|map(attribute='tags.7.term')|list|length == 3",
        "objects|sum(attribute='nosuch') == 0",
        "objects|sum('nosuch') == 0",
        "objects|selectattr('nosuch')|list|length == 0",
        "objects|selectattr('nosuch', 'gt', 3)|list|length == 0",
        "objects|rejectattr('nosuch')|list|length == 3",
        "objects|groupby('nosuch')|length == 1",
        "objects|groupby(attribute='nosuch')|length == 1",
        "objects|sort(attribute='nosuch')|length == 3",
        "objects|sort(attribute='year, nosuch')|length == 3",
        "objects|unique(attribute='nosuch')|list|length == 1",
        "objects|min(attribute='nosuch') == objects[0]",
        "objects|max(attribute='nosuch') == objects[0]",
        "objects|join('', attribute='nosuch') == ''",
        "none_at_all|min is undefined",
        "none_at_all|first is undefined",
        "none_at_all|last is undefined",
        "ids|map(attribute='year')|list|length == 4",
        "status|map(attribute='x')|list|length == 0",
        "nosuch|length == 0",
        "nosuch|map(attribute='x')|list|length == 0",
        "nosuch == 1",
        "not nosuch",
        "nosuch and true",
        "page.nosuch == ''",
        "'x' in page.nosuch",
        "1 in none_at_all[0]",
        "objects[0].nosuch",
        "objects.nosuch",
        "none.x",
        "ids",
        "ids|length",
        "page.title",
        "'true'",
        "1",
        "none",
        "all(ids)",
        "any(texts)",
        "all(nosuch)",
        "page.title is matches('(')",
        "page.title is matches('(a{1000}){1000}')",
        "status is matches('200')",
        "ids|lenght == 4",
        "ids is evn",
        "lenght(ids) == 4",
        "ids|length ==",
        "ids|length = 4",
        "",
        "'x' * 3000000000 == ''",
        "'%1000000000d'|format(1) == ''",
        "range(90000)|map('string')|map('string')|map('string')|map('string')|list|length == 0",
    ];
    for expression in expressions {
        let outcome = truth(expression, evidence());
        assert!(outcome.is_err(), "{expression} gave {outcome:?}");
    }
}

#[test]
fn errors_say_what_and_where() {
    let cases = [
        (
            "objects|map(attribute='nosuch')|list|length == 3",
            "item 0 has no `nosuch` (it has objectName, year, dept, tags, open) (`map(attribute='nosuch')` at character 9)",
        ),
        (
            "ids|map(attribute='year')|list|length == 4",
            "item 0 has no `year` (it is a number) (`map(attribute='year')` at character 5)",
        ),
        ("ids|length", "must be true or false, but is 4"),
        ("ids", "must be true or false, but is a sequence"),
        ("objects[0].nosuch", "must be true or false, but is undefined"),
        ("ids|min == nosuch", "`nosuch` is undefined"),
    ];
    for (expression, text) in cases {
        assert_eq!(truth(expression, evidence()).unwrap_err().short(), text, "{expression}");
    }
}

/// Over what a model may have made, 8 MB of it: the rule ends, in bounded time and memory, and says why.
#[test]
fn rules_that_blow_up_are_told_by_name() {
    let words: Vec<String> = (0..100_000).map(|number| format!("word {number}")).collect();
    let made = Value::from(Serde(json!({ "text": "x".repeat(8 << 20), "words": words })));
    for (expression, reason) in [
        ("words|sort|length == 1", "it takes too many steps, or too much memory"),
        ("words|unique|list|length == 1", "it takes too many steps"),
        ("text|replace('', text) == ''", "it takes too many steps"),
        ("text ~ text ~ text ~ text ~ text ~ text == ''", "it takes too many steps"),
        ("text * 1000 == ''", "it takes too many steps"),
        ("'a'|indent(1000000000) == ''", "it takes too many steps"),
        ("'%999999999d'|format(1) == ''", "it takes too many steps"),
        ("words|batch(100000000, 'x')|list|length == 1", "it takes too many steps"),
        ("words * 10000 == []", "repeated sequence is too large"),
        ("range(10000000000)|length == 1", "range has too many elements"),
        ("words|tojson(indent=1000000000)|length == 1", "too many arguments"),
        ("words|sum(start='')|length == 1", "`sum` wants numbers, but item 0 is a string"),
        ("[]|sum(start='') == ''", "`sum` wants a number to start with"),
        ("2 ** 1000 ** 1000 == 1", "unable to calculate"),
        ("text is matches('(a{1000}){1000}')", "is too big once compiled"),
    ] {
        let Err(error) = truth(expression, made.clone()) else { panic!("{expression} has a value") };
        assert!(error.reason.contains(reason), "{expression}: {}", error.reason);
    }
    // Patterns that take other engines for ever are linear here.
    for expression in ["not (text is matches('(x+x+)+y'))", "not (text is matches('^(x|xx)*(x?){99}y$'))"] {
        assert_eq!(truth(expression, made.clone()), Ok(true), "{expression}");
    }
}
