//! Tools that answer text, a count, and whatever they were given.

use plugin_api::prelude::*;
use serde::Serialize;

/// The rows of a small table, as JSON text: a string, which the caller decodes.
#[tool]
pub(crate) fn query_database(
    /** Any query; all have the same answer. */
    sql: String,
) -> ToolResult<&'static str> {
    let _any = sql;
    Ok(concat!(
        r#"[{"id": 1, "name": "alpha", "score": 9.5, "created": "2024-03-05T10:00:00"}, "#,
        r#"{"id": 2, "name": "beta", "score": 7.25, "created": "2024-04-01T08:30:00"}, "#,
        r#"{"id": 3, "name": "gamma", "score": null, "created": "2023-12-31T23:59:59"}]"#,
    ))
}

#[derive(Serialize)]
pub(crate) struct Stored {
    path: String,
    /// Counted in characters, as the Python this stands in for counts.
    bytes: usize,
}

/// Pretends to save text. Returns its path and its length.
#[tool]
pub(crate) fn save_file(
    /** Where to. */
    path: String,
    /** The text. */
    content: String,
) -> ToolResult<Stored> {
    Ok(Stored { path, bytes: content.chars().count() })
}

/// Returns its argument.
#[tool]
pub(crate) fn noop(
    /** Any JSON value. */
    x: RawJson,
) -> ToolResult<RawJson> {
    Ok(x)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plugin_api::testing::FakeHost;
    use serde_json::{Value, json};

    use crate::PLUGIN;

    fn call(tool: &str, arguments: &Value) -> Value {
        FakeHost::new().call(&PLUGIN, tool, arguments).unwrap()
    }

    #[test]
    fn rows_are_text() {
        let rows = call("query_database", &json!({"sql": "SELECT 1"}));
        let rows: Value = serde_json::from_str(rows.as_str().unwrap()).unwrap();
        assert_eq!(rows[2], json!({"id": 3, "name": "gamma", "score": null, "created": "2023-12-31T23:59:59"}));
    }

    #[test]
    fn text_is_counted_in_characters() {
        let stored = call("save_file", &json!({"path": "a.md", "content": "ねこ"}));
        assert_eq!(stored, json!({"path": "a.md", "bytes": 2}));
    }

    #[test]
    fn anything_comes_back() {
        for value in [json!(null), json!(1.5), json!("x"), json!([1, [2, {"a": null}]])] {
            assert_eq!(call("noop", &json!({"x": value})), value);
        }
    }
}
