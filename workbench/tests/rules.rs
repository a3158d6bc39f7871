//! Expressions of rules and probes: what works, and what must be an error instead of passing in
//! silence.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use minijinja::Value;
use minijinja::value::Serde;
use serde_json::json;
use workbench::expression::{Purpose, attributes, check, fill, placeholders, truth};

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
    for expression in ["texts[0] == 12", "texts[0] != '12'", "0.1 + 0.2 == 0.3"] {
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
        "status >= '200'",
        "page.title > 3",
        "1 < texts[0] < 20",
        "ids|map('string')|select('gt', 3)|list|length == 0",
        "[none]|sort == [none]",
        "[1, 'a']|max == 'a'",
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

/// Numbers are ordered among numbers, texts among texts, and nothing else is, wherever a comparison is made.
#[test]
fn only_numbers_and_texts_are_ordered() {
    let data = || {
        Value::from(Serde(json!({
            "number": 500, "fraction": 2.5, "big": 9_007_199_254_740_993_u64, "text": "few", "digits": "1000",
            "list": [1, 2], "map": { "a": 1 }, "yes": true, "nothing": null,
        })))
    };
    let values = ["number", "fraction", "big", "text", "digits", "list", "map", "yes", "nothing", "'nan'|float"];
    let kind = |value: &str| match value {
        "number" | "fraction" | "big" => 1,
        "text" | "digits" => 2,
        _ => 0,
    };
    let forms = [
        "({a} < {b}) in [true, false]",
        "({a} <= {b}) in [true, false]",
        "({a} > {b}) in [true, false]",
        "({a} >= {b}) in [true, false]",
        "({a} < {b} == true) in [true, false]",
        "({a} <= {b} <= {b}) in [true, false]",
        "({a} > {b} in [{b}]) in [true, false]",
        "({a} >= {b} != 0) in [true, false]",
        "(true == true != ({a} < {b})) in [true, false]",
        "({a} is lt {b}) in [true, false]",
        "({a} is lessthan({b})) in [true, false]",
        "({a} is le({b})) in [true, false]",
        "({a} is gt({b})) in [true, false]",
        "({a} is greaterthan({b})) in [true, false]",
        "({a} is ge({b})) in [true, false]",
        "[{a}]|select('<', {b})|length in [0, 1]",
        "[{a}]|reject('ge', {b})|length in [0, 1]",
        "[{'n': {a}}]|selectattr('n', '>=', {b})|length in [0, 1]",
        "[{'n': {a}}]|rejectattr('n', 'lessthan', {b})|length in [0, 1]",
        "[{a}, {b}]|sort|length == 2",
        "[{'n': {a}}, {'n': {b}}]|sort(attribute='n')|length == 2",
        "[{a}, {b}]|min in [{a}, {b}]",
        "[{a}, {b}]|max in [{a}, {b}]",
        "[{'n': {a}}, {'n': {b}}]|max(attribute='n') != 0",
        "{'x': {a}, 'y': {b}}|dictsort(by='value')|length == 2",
    ];
    for form in forms {
        for a in values {
            for b in values {
                let expression = form.replace("{a}", &format!("({a})")).replace("{b}", &format!("({b})"));
                let expected = kind(a) == kind(b) && kind(a) > 0;
                match truth(&expression, data()) {
                    Ok(true) => assert!(expected, "{expression} holds"),
                    Ok(false) => panic!("{expression} is false"),
                    Err(error) => assert!(!expected && error.on_unordered, "{expression}: {error:?}"),
                }
            }
        }
    }
}

/// What is ordered is ordered as one expects, and chains end where they become false.
#[test]
fn comparisons_are_those_of_numbers_and_of_letters() {
    for expression in [
        "1 < 2 and 2 <= 2 and 2 > 1 and 2 >= 2 and not 2 < 2 and not 1 >= 2 and not 1 > 1 and not 2 <= 1",
        "ids[1] < ids[2] and ids[2] <= ids[2] and ids[2] > ids[1] and ids[2] >= ids[2] and not ids[2] < ids[2]",
        "status > 199.5 and status < 200.5 and status <= 200.0 and big > 9007199254740992.0",
        "'10' < '9' and page.title < 'D' and 'Z' < 'a'",
        "1 < status <= 200 < big != 3 and 200 > ids[0] == 3 and not (1 < status < 200 < page.nosuch)",
        "3 < ids|length + 1 < 20 and (0 < status < 300 if ids else false) or nosuch",
        "(1 < status < 2) == false and not (1 < status < 2 < texts)",
        "ids|min < ids|max and texts|sort == ['12', 'a'] and ids|sort(reverse=true) == [12, 3, 2, 1]",
        "none_at_all|sort == [] and [none]|length == 1 and [1]|sort == [1]",
        "[true, false][0 < status < 300] == false and [1, 2][:ids[0] < 4 and 1] == [1]",
    ] {
        assert_eq!(truth(expression, evidence()), Ok(true), "{expression}");
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
        ("text|list|length == 1", "it takes too many steps"),
        ("text|split('')|length == 1", "it takes too many steps"),
        ("text|replace('x', '\n')|lines|length == 1", "it takes too many steps"),
        ("text|replace('x', ' a')|split|length == 1", "it takes too many steps"),
        ("text|replace('x', '\n')|indent(80)|length == 1", "it takes too many steps"),
        ("text|replace('x', '\n')|indent(width=80)|length == 1", "it takes too many steps"),
        ("words|map('list')|map('list')|list|length == 1", "it takes too many steps"),
        ("words|slice(1000000000)|list|length == 1", "it takes too many steps"),
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

/// The engine goes down into it by recursion, and a stack that is full ends the program.
#[test]
fn what_is_too_long_is_refused_before_it_is_read() {
    for (start, link) in [
        ("1", "+1"),
        ("status", "|abs"),
        ("status", " < 3"),
        ("true", " or true"),
        ("page", ".x"),
        ("1", " if 1 else 1"),
    ] {
        let long = format!("{start}{}", link.repeat(200_000));
        for told in [
            truth(&long, evidence()).unwrap_err(),
            check(&long, &["status", "page"]).unwrap_err(),
            attributes(&long, "page").unwrap_err(),
            placeholders(&format!("{{{{ {long} }}}}")).unwrap_err(),
            fill(&format!("{{{{ {long} }}}}"), &Value::UNDEFINED, Purpose::Path).unwrap_err(),
        ] {
            assert_eq!(told.reason, "it has more than 1000 words and signs", "{link}");
            assert!(told.to_string().len() < 200, "{told}");
        }
    }
    for (start, link, end) in [("1", "+1", " == 500"), ("1", "|abs", " == 1"), ("true", " and true", "")] {
        let longest = format!("{start}{}{end}", link.repeat(498));
        assert_eq!(truth(&longest.replace("== 500", "== 499"), evidence()), Ok(true), "{link}");
    }
}

/// A list that holds one text a thousand times takes no memory until it is written, and whatever
/// writes it is told.
#[test]
fn a_text_that_is_repeated_is_never_written_out() {
    let made = Value::from(Serde(json!({ "text": "x".repeat(2 << 20) })));
    for writer in [
        "join",
        "join(',')",
        "string",
        "tojson",
        "pprint",
        "upper",
        "lower",
        "title",
        "capitalize",
        "trim",
        "escape",
        "e",
        "safe",
        "indent",
        "replace('a', 'b')",
        "split('a')",
        "lines",
        "map('list')|map('string')|list",
        "string|length",
        "batch(2)|join",
        "[0:900]|join",
        "list|tojson",
        "map('upper')|list",
        "map('replace', 'x', 'y')|list",
    ] {
        let expression = format!("([text] * 1000){}{writer} == ''", if writer.starts_with('[') { "" } else { "|" });
        let Err(error) = truth(&expression, made.clone()) else { panic!("{expression} has a value") };
        let is_told =
            ["takes too many steps", "is not a string", "invalid"].iter().any(|told| error.reason.contains(told));
        assert!(is_told, "{expression}: {}", error.reason);
    }
    for expression in [
        "([text, text] * 500)|join == ''",
        "([text]|chain([text] * 999)|list)|join == ''",
        "[text] * 1000 ~ '' == ''",
        "'' ~ ([text] * 1000) == ''",
        "('%s' * 1000)|format(*([text] * 1000)) == ''",
        "('%(a)s' * 1000)|format(a=text) == ''",
        "'%s'|format([text] * 1000) == ''",
        "[{'t': text}] * 1000|join(attribute='t') == ''",
        "([{'t': text}] * 1000)|join(attribute='t') == ''",
        "([{'t': text}] * 1000)|groupby('t')|string == ''",
        "{'a': [text] * 1000}|items|list|string == ''",
        "([[text] * 1000])|first|join == ''",
        "'a' in ([text] * 1000)|string",
        "([text] * 1000)|string is startingwith('a')",
        "([text] * 1000)|matches('a')",
        "([text] * 1000) is matches('a')",
        "([text] * 1000) is startingwith('a')",
        "([text] * 1000) is endingwith('a')",
        "([text] * 1000) is lower",
        "([text] * 1000) is not upper",
        "'a' is startingwith([text] * 1000)",
        "([text] * 1000)|sort|length == 1",
        "([text] * 1000)|unique|list|length == 1",
        "([{'t': text}] * 1000)|groupby('t', default=1)|length == 1",
    ] {
        let Err(error) = truth(expression, made.clone()) else { panic!("{expression} has a value") };
        assert!(!error.reason.is_empty(), "{expression}");
    }
    assert!(memory_at_most() < 800 << 10, "{} KB", memory_at_most());
}

/// Kilobytes of memory that this process took at its most; none where the system does not tell.
fn memory_at_most() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
    peak.unwrap_or_default()
}
