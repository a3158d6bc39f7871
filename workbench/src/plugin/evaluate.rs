//! Expressions that plugins have evaluated, over data of theirs: strict, and within bounds of steps and memory.

use minijinja::value::Serde;
use plugin_api::ToolError;
use serde_json::Value;

use crate::bounded_json::{self, ParseError};
use crate::expression::{self, RuleError};

/// Bytes of memory the data of an expression may take.
const MAX_DATA: u64 = 512 << 20;

/// Bytes its value may have as JSON.
const MAX_VALUE: usize = 64 << 20;

/// The value of `expression` as JSON; `names` is a JSON object of the names it may use.
pub(super) fn evaluate(expression: &str, names: &[u8]) -> Result<Vec<u8>, ToolError> {
    let names: Value = bounded_json::parse(names, MAX_DATA).map_err(|error| {
        let wrong = match error {
            ParseError::Json(error) => format!("is not JSON: {error}"),
            too_big @ ParseError::TooBig { .. } => format!("is too much: {too_big}"),
        };
        ToolError::new(format!("what `{expression}` is to read {wrong}"))
    })?;
    let names = minijinja::Value::from(Serde(&names));
    let value = expression::value(expression, names.clone()).map_err(fault)?;
    if value.is_undefined() {
        let known = expression::known_beside(expression, names).map(|known| format!("; {known}")).unwrap_or_default();
        return Err(ToolError::new(format!("`{expression}` is undefined{known}")).with_code("undefined"));
    }
    expression::json(&value, MAX_VALUE)
        .map_err(|error| ToolError::new(format!("the value of `{expression}` cannot be handed on: {error}")))
}

fn fault(error: RuleError) -> ToolError {
    let undefined = error.on_undefined;
    let error = ToolError::new(error.to_string());
    if undefined { error.with_code("undefined") } else { error.with_code("expression") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn values_are_json_and_what_is_wrong_is_told() {
        let names =
            br#"{"json": {"b": 1.0, "a": [{"n": "x", "m": 1}, {"n": "y", "m": null}]}, "arguments": {"limit": 2}}"#;
        for (expression, expected) in [
            ("json", Ok(r#"{"b":1.0,"a":[{"n":"x","m":1},{"n":"y","m":null}]}"#)),
            ("{'count': json.a|length, 'all': json.a|only('n')}", Ok(r#"{"count":2,"all":[{"n":"x"},{"n":"y"}]}"#)),
            ("json.a|map(attribute='n')", Ok(r#"["x","y"]"#)),
            ("json.a[0]|only('m', 'n')", Ok(r#"{"m":1,"n":"x"}"#)),
            ("json.a[:arguments.limit - 1]", Ok(r#"[{"n":"x","m":1}]"#)),
            ("none", Ok("null")),
            ("json.nosuch", Err("`json.nosuch` is undefined; `json` has b, a")),
            ("json.nosuch.deeper", Err("`json.nosuch.deeper`: `json.nosuch` is undefined; `json` has b, a")),
            (
                "json.a[0].nosuch|length",
                Err("`json.a[0].nosuch|length`: `json.a[0].nosuch` is undefined; `json.a[0]` has n, m"),
            ),
            ("json.b.nosuch|length", Err("`json.b.nosuch|length`: `json.b.nosuch` is undefined; `json.b` is a number")),
            ("json.a|only('k')", Err("`json.a|only('k')`: item 0 has no `k` (it has n, m)")),
            ("json.a|only", Err("`json.a|only`: `only` wants the names of keys")),
            ("json ==", Err("`json ==`: unexpected end of input")),
            (
                "{'n': 1e308 * 10}",
                Err("the value of `{'n': 1e308 * 10}` cannot be handed on: it holds inf, which JSON"),
            ),
            ("[range]", Err("the value of `[range]` cannot be handed on: it holds `")),
        ] {
            let found = evaluate(expression, names).map(|json| String::from_utf8(json).unwrap());
            match expected {
                Ok(json) => assert_eq!(found.as_deref(), Ok(json), "{expression}"),
                Err(start) => {
                    let message = found.unwrap_err().message;
                    assert!(message.starts_with(start), "{message}");
                }
            }
        }
        let text = "x".repeat(1 << 20);
        let long = format!(r#"{{"text": "{text}"}}"#);
        let error = evaluate(&format!("[{}]", ["text"; 65].join(", ")), long.as_bytes()).unwrap_err();
        assert!(error.message.ends_with("cannot be handed on: it is longer than 64 MB"), "{error}");
        assert!(evaluate("1", b"[").unwrap_err().message.starts_with("what `1` is to read is not JSON: "));
    }
}
