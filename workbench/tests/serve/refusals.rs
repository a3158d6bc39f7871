//! Every refusal there is, and the table of them in docs/serve.md.

use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::refusal_cases::{Case, in_order, of_a_question, of_a_question_without_tools, of_an_answer};
use crate::served::{Answer, KEYS, Served, headers, next, question};

/// The request with this in that place.
fn changed(good: &Value, place: &str, value: &Value) -> Value {
    let Some((parent, key)) = place.rsplit_once('/') else { return value.clone() };
    let mut body = good.clone();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(fields) if value.is_null() => _ = fields.shift_remove(key),
        Value::Object(fields) => _ = fields.insert(key.to_owned(), value.clone()),
        Value::Array(items) if value.is_null() => _ = items.remove(key.parse().unwrap()),
        Value::Array(items) if items.len() == key.parse::<usize>().unwrap() => items.push(value.clone()),
        other => other[key.parse::<usize>().unwrap()] = value.clone(),
    }
    body
}

/// `error.type` that belongs to a status.
pub(crate) fn kind_of(status: u16) -> &'static str {
    match status {
        400 | 405 | 408 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        500 => "api_error",
        529 => "overloaded_error",
        _ => "",
    }
}

/// What was answered otherwise than expected, and all texts of refusals.
#[derive(Default)]
struct Told {
    wrong: Vec<String>,
    texts: Vec<(u16, String)>,
}

impl Told {
    fn look(&mut self, what: &str, answer: &Answer, status: u16, begins: &str) {
        let body = &answer.body;
        let is_whole = status == 200
            || body["type"] == "error" && body["request_id"] == answer.headers["request-id"].to_str().unwrap();
        let kind = body["error"]["type"].as_str().unwrap_or_default();
        if answer.status != status || kind != kind_of(status) || !answer.message().starts_with(begins) || !is_whole {
            self.wrong.push(format!("{what}: {} {}", answer.status, body));
        }
        if answer.status != 200 {
            self.texts.push((answer.status, answer.message().to_owned()));
        }
    }

    async fn ask(&mut self, served: &Served, good: &Value, cases: Vec<Case>) {
        for (place, value, status, begins) in cases {
            let answer = served.post(&changed(good, place, &value)).await;
            self.look(&format!("{place} = {value}"), &answer, status, begins);
        }
    }
}

#[tokio::test]
async fn whatever_is_wrong_is_told_and_the_docs_list_it() {
    let mut told = Told::default();
    let served = Served::start(&json!([{ "text": "Hello." }]), &[]);
    told.ask(&served, &question(), of_a_question()).await;
    let mut plain = question();
    plain.as_object_mut().unwrap().shift_remove("tools");
    told.ask(&served, &plain, of_a_question_without_tools()).await;
    heads(&mut told, &served).await;

    let mut all = question();
    for (place, value, status, begins) in in_order() {
        all = changed(&all, place, &value);
        told.look(&format!("up to {place}"), &served.post(&all).await, status, begins);
    }
    assert!(served.workers().is_empty(), "nothing of this runs code");

    let two = "import asyncio\nprint(await asyncio.gather(get_order({}), get_order({})))";
    let served = Served::start(&json!([{ "code": [two] }, { "text": "Done." }]), &["--containers", "1"]);
    let answer = served.post(&question()).await;
    let good = next(&question(), &answer, &json!("1"));
    let calls: Vec<&str> = answer.blocks("tool_use").map(|call| call["id"].as_str().unwrap()).collect();
    let cell = answer.body["content"][0]["id"].as_str().unwrap();
    let names =
        [("FIRST", calls[0]), ("SECOND", calls[1]), ("CELL", cell), ("CONTAINER", good["container"].as_str().unwrap())];
    let named = |text: &str| names.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id));
    for (place, value, status, begins) in of_an_answer() {
        let value: Value = serde_json::from_str(&named(&value.to_string())).unwrap();
        let answer = served.post(&changed(&good, place, &value)).await;
        told.look(&format!("{place} = {value}"), &answer, status, &named(begins));
    }
    told.look("a second container", &served.post(&question()).await, 529, "Overloaded: as many containers are in use");
    // None of it did the cell any harm.
    let done = served.post(&good).await;
    assert_eq!(done.results()[0]["stdout"], "['1', '1']\n");
    told.look("answered before", &served.post(&good).await, 400, "no code of this container waits for");

    assert!(told.wrong.is_empty(), "{}", told.wrong.join("\n"));
    documented(&told.texts);
}

/// Heads and addresses, each with the rest as it should be.
async fn heads(told: &mut Told, served: &Served) {
    let body = || question().to_string();
    let [key, version, kind] = headers(KEYS[0]);
    let bearer = format!("Bearer {}", KEYS[0]);
    let newer = ("anthropic-version", "2026-10-21");
    for (given, status, begins) in [
        (vec![version, kind], 401, "x-api-key header is required"),
        (vec![("x-api-key", "sk-other"), version, kind], 401, "invalid x-api-key"),
        (vec![("x-api-key", ""), version, kind], 401, "invalid x-api-key"),
        (vec![("authorization", "Bearer sk-other"), version, kind], 401, "invalid x-api-key"),
        (vec![("authorization", KEYS[0]), version, kind], 401, "x-api-key header is required"),
        (vec![("authorization", &*bearer), version, kind], 200, ""),
        (vec![key, kind], 400, "anthropic-version: header is required"),
        (
            vec![key, ("anthropic-version", "2026-10-20"), kind],
            400,
            "anthropic-version: \"2026-10-20\" is not a valid version",
        ),
        (vec![key, newer, kind], 200, ""),
        (vec![key, version], 400, "content-type: Input should be 'application/json'"),
        (vec![key, version, ("content-type", "text/plain")], 400, "content-type: Input should be 'application/json'"),
        (vec![key, version, ("content-type", "application/json; charset=utf-8")], 200, ""),
        (vec![key, version, kind, ("anthropic-beta", "advanced-tool-use-2025-11-20")], 200, ""),
    ] {
        let answer = served.send("POST", "/v1/messages?beta=true", &given, body()).await.unwrap();
        told.look(&format!("{given:?}"), &answer, status, begins);
    }
    let cited = json!([{ "type": "text", "text": "x", "citations": [{}] }]);
    for (place, value, begins) in [
        ("/temperature", json!(1), "temperature: not supported in version 2026-10-21"),
        ("/top_k", json!(1), "top_k: not supported in version 2026-10-21"),
        ("/messages/0/content", cited, "messages.0.content.0.citations: not supported in version 2026-10-21"),
    ] {
        let body = changed(&question(), place, &value);
        told.look(place, &served.post(&body).await, 200, "");
        let answer = served.send("POST", "/v1/messages", &[key, newer, kind], body.to_string()).await.unwrap();
        told.look(place, &answer, 400, begins);
    }
    let given = [key, version, kind];
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for body in ["", "{", "{\"model\": \u{1}}", deep.as_str()] {
        let answer = served.send("POST", "/v1/messages", &given, body.to_owned()).await.unwrap();
        told.look(body, &answer, 400, "The request body is not valid JSON: ");
    }
    for (method, path, status, begins) in [
        ("GET", "/", 404, "Not Found"),
        ("POST", "/v1/complete", 404, "Not Found"),
        ("GET", "/v1/models/%ff", 404, "Not Found"),
        ("GET", "/v1/models/nobody", 404, "model: nobody"),
        ("GET", "/v1/messages", 405, "Method Not Allowed"),
        ("DELETE", "/v1/models", 405, "Method Not Allowed"),
        ("GET", "/v1/models", 200, ""),
        ("POST", "/v1/messages/count_tokens", 400, "max_tokens: Extra inputs are not permitted"),
    ] {
        let answer = served.send(method, path, &given, body()).await.unwrap();
        told.look(&format!("{method} {path}"), &answer, status, begins);
    }
    // Short, and a hundred and thirty times as long once it is read.
    let heavy = format!("{{\"model\": [{}0]}}", "0,".repeat(2 << 20));
    let answer = served.send("POST", "/v1/messages", &given, heavy).await.unwrap();
    told.look("4 MB of zeros", &answer, 413, "Request exceeds what this server can hold: it would take some ");
    // More than there may be is refused by its head alone; who still sends may see the connection closed.
    let mut long = body();
    long.push_str(&" ".repeat((32 << 20) + 1 - long.len()));
    if let Ok(answer) = served.send("POST", "/v1/messages", &given, long).await {
        told.look("33 MB", &answer, 413, "Request exceeds the maximum size of 32 MB");
    }
    told.texts.push((413, "Request exceeds the maximum size of 32 MB".to_owned()));
}

/// A row of the docs: its status, what its texts are like, and its own text.
struct Row(u16, Regex, String);

impl Row {
    fn is_of(&self, status: u16, text: &str) -> bool {
        self.0 == status && self.1.is_match(text)
    }
}

/// Whether the docs list a refusal.
pub(crate) fn is_listed(status: u16, text: &str) -> bool {
    rows().iter().any(|row| row.is_of(status, text))
}

fn rows() -> Vec<Row> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/serve.md");
    let page = fs::read_to_string(page).unwrap();
    let row = Regex::new(r"(?m)^\| (\d{3}) \| (`+) ?(.+?) ?(`+) \| (reported|ours)[ ,|]").unwrap();
    let capitals = Regex::new(r"\b[A-Z]+\b").unwrap();
    let rows: Vec<Row> = row
        .captures_iter(&page)
        .map(|row| {
            let pattern = capitals.replace_all(&regex::escape(&row[3]), "(?s:.+)").into_owned();
            Row(row[1].parse().unwrap(), Regex::new(&format!("^{pattern}$")).unwrap(), row[3].to_owned())
        })
        .collect();
    assert!(rows.len() > 30, "docs/serve.md has lost its table");
    rows
}

/// Every text is a row of the docs, and every row one that was told.
fn documented(texts: &[(u16, String)]) {
    let rows = rows();
    let untold: Vec<&String> = texts
        .iter()
        .filter(|(status, text)| !rows.iter().any(|row| row.is_of(*status, text)))
        .map(|(_, text)| text)
        .collect();
    assert!(untold.is_empty(), "docs/serve.md does not list: {untold:#?}");
    let unheard: Vec<&String> = rows
        .iter()
        .filter(|row| !texts.iter().any(|(status, text)| row.is_of(*status, text)))
        .map(|row| &row.2)
        .collect();
    // Told by other tests, which take time, a crash or a model to be told.
    let elsewhere = [
        "The request body broke off: WHY",
        "The request body was not whole after N s",
        "container ID is in use by another request",
        "the server is being ended",
        "the model behind this server: WHY",
        "prompt is too long: the model behind this server: WHY",
    ];
    let unheard: Vec<&&String> = unheard.iter().filter(|row| !elsewhere.contains(&row.as_str())).collect();
    assert!(unheard.is_empty(), "docs/serve.md lists what nothing here was told: {unheard:#?}");
}
