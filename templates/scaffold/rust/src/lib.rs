//! The tools of the domain `@NAME@`. `cargo doc -p plugin-api --open` explains all that is used here.
#![forbid(unsafe_code)]

use plugin_api::prelude::*;
use serde::Serialize;

// The comment above a tool is all that a model knows of it, so it says what the tool returns, down to the names of the fields.
// A refusal (`?`) reaches the model as text, here in the API's own words.

/// Everything about one trail. Returns its record as JSON: number, name, region, length_km, open, stages and so on.
#[tool]
fn get_trail(
    host: &Host,
    /** Its number. */
    #[range(1..=9999)]
    number: u32,
) -> ToolResult<RawJson> {
    // Handed on as it came: a record that nobody looks into is not parsed.
    host.get_json(format!("/trails/{number}"), &[])
}

/// What `templates/trails.html` is filled with.
#[derive(Serialize)]
struct Tour {
    items: Vec<RawJson>,
}

#[derive(Serialize)]
struct Written {
    file: String,
    bytes: u64,
    items: usize,
}

// What is judged must be in a file: this tool writes it.

/// Builds a page that shows some trails. Returns {file, bytes, items}: items is how many it shows.
#[tool]
fn build_page(
    host: &Host,
    /** Name of the page, without an extension. */
    name: String,
    /** Numbers of the trails, in the order wanted. */
    numbers: Vec<u32>,
) -> ToolResult<Written> {
    let items = numbers.iter().map(|number| host.get_json(format!("/trails/{number}"), &[]));
    let tour = Tour { items: items.collect::<ToolResult<_>>()? };
    let page = host.render("trails.html", name, &tour)?;
    Ok(Written { file: page.file, bytes: page.bytes, items: tour.items.len() })
}

plugin!(get_trail, build_page);

#[cfg(test)]
mod tests {
    use plugin_api::testing::FakeHost;
    use serde_json::json;

    use super::*;

    // `cargo test` runs this without workbench and network: the host has canned answers.
    #[test]
    fn a_page_shows_the_trails_in_the_order_given() {
        let host = FakeHost::new()
            .json("/trails/1", r#"{"number": 1, "name": "Heron Trail"}"#)
            .json("/trails/7", r#"{"number": 7, "name": "Otter Trail"}"#);
        let written = host.call(&PLUGIN, "build_page", &json!({"name": "tour", "numbers": [7, 1]}));
        assert_eq!(written, Ok(json!({"file": "out/tour.html", "bytes": 0, "items": 2})));
        assert_eq!(host.pages()[0].data["items"][0]["name"], "Otter Trail");

        let refused = host.call(&PLUGIN, "get_trail", &json!({"number": 0})).unwrap_err();
        assert_eq!(refused.message, "bad arguments for get_trail: number must be between 1 and 9999, not 0");
    }
}
