//! What a tool asks of the host, and what comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

use plugin_api::prelude::*;
use plugin_api::testing::{FakeHost, Page, Sheet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Odd spacing, an order of its own, a number that no float holds: all of it must survive.
const RECORD: &str = "{\"b\" : 1.50,\n \"a\":[ 12345678901234567890123 ] }";

/// The record, untouched.
#[tool]
fn record(host: &Host, id: u32) -> ToolResult<RawJson> {
    host.get_json(format!("/things/{id}"), &[("full", &true), ("lang", &"en gb")])
}

#[derive(Serialize)]
struct Wrapped {
    id: u32,
    record: RawJson,
}

/// The record, inside something else.
#[tool]
fn wrapped(host: &Host, id: u32) -> ToolResult<Wrapped> {
    Ok(Wrapped { id, record: record(host, id)? })
}

#[derive(Deserialize)]
struct Shape {
    b: f64,
}

/// One field of the record.
#[tool]
fn field(host: &Host, id: u32) -> ToolResult<f64> {
    Ok(record(host, id)?.parse::<Shape>()?.b)
}

/// Fetches a picture, saves it three ways, shows it.
#[tool]
fn show(host: &Host, name: String) -> ToolResult<Value> {
    let picture = host.get_bytes("https://images.example/1.png", &[])?;
    assert_eq!((picture.length(), picture.content_type()), (4, "image/png"));
    let bytes = host.read(&picture)?;
    host.log(format!("{} bytes", bytes.len()));
    let before = host.saved(&name, "png")?;
    let saved = host.save(&name, "png", &picture)?;
    host.save(7, "bin", &bytes)?;
    host.save(8, "txt", "text")?;
    let sheet = host.contact_sheet("sheet", &[Picture { file: saved.file.clone(), label: "#1".to_owned() }])?;
    let page = host.render("gallery.html", "page", &json!({"title": "Cats"}))?;
    Ok(json!([before, saved, host.saved(&name, "png")?, sheet.file, page.file]))
}

plugin!(record, wrapped, field, show);

const ADDRESS: &str = "/things/5?full=true&lang=en gb";

#[test]
fn raw_json_is_handed_on_byte_for_byte() {
    let host = FakeHost::new().json(ADDRESS, RECORD);
    let answer = host.call_raw(&PLUGIN, "record", &json!({"id": 5})).unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), RECORD);
    let answer = host.call_raw(&PLUGIN, "wrapped", &json!({"id": 5})).unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), format!("{{\"id\":5,\"record\":{RECORD}}}"));
    assert_eq!(host.requests(), [ADDRESS, ADDRESS]);
}

#[test]
fn a_shape_that_does_not_fit_says_where() {
    let host = FakeHost::new().json(ADDRESS, RECORD);
    assert_eq!(host.call(&PLUGIN, "field", &json!({"id": 5})), Ok(json!(1.5)));
    let host = FakeHost::new().json(ADDRESS, r#"{"b": null}"#);
    let error = host.call(&PLUGIN, "field", &json!({"id": 5})).unwrap_err();
    assert!(error.message.starts_with("the API's answer has an unexpected shape: invalid type: null"), "{error}");
}

#[test]
fn an_error_of_the_host_is_the_error_of_the_tool() {
    let refusal = ToolError::new("GET /things/5 returned HTTP 404: no such thing").with_code("http_404");
    let host = FakeHost::new().refuses(ADDRESS, refusal.clone());
    assert_eq!(host.call(&PLUGIN, "record", &json!({"id": 5})), Err(refusal));
}

#[test]
fn files_pictures_and_pages_go_through_the_host() {
    let host = FakeHost::new().bytes("https://images.example/1.png", "image/png", b"\x89PNG");
    let answer = host.call(&PLUGIN, "show", &json!({"name": "cat"})).unwrap();
    let saved = json!({"file": "out/cat.png", "bytes": 4});
    assert_eq!(answer, json!([null, saved, saved, "out/sheet.jpg", "out/page.html"]));
    assert_eq!(host.content("out/cat.png").unwrap(), b"\x89PNG");
    assert_eq!(host.content("out/7.bin").unwrap(), b"\x89PNG");
    assert_eq!(host.content("out/8.txt").unwrap(), b"text");
    let picture = Picture { file: "out/cat.png".to_owned(), label: "#1".to_owned() };
    assert_eq!(host.sheets(), [Sheet { name: "sheet".to_owned(), pictures: vec![picture] }]);
    let page = Page { template: "gallery.html".to_owned(), name: "page".to_owned(), data: json!({"title": "Cats"}) };
    assert_eq!(host.pages(), [page]);
    assert_eq!(host.log(), ["4 bytes"]);
}
