//! Texts with placeholders, `{name}`: filled with arguments, which come from a model and stay in their place.

use std::convert::Infallible;

use plugin_api::ToolError;
use plugin_api::declared::Given;
use serde_json::Value;

/// What placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'call> {
    arguments: &'call Given,
    item: Option<&'call Value>,
}

impl<'call> Names<'call> {
    /// The arguments alone.
    pub(crate) fn of(arguments: &'call Given) -> Self {
        Self { arguments, item: None }
    }

    /// The arguments, and `item`.
    pub(crate) fn with(self, item: &'call Value) -> Self {
        Self { item: Some(item), ..self }
    }

    pub(crate) fn arguments(self) -> &'call Given {
        self.arguments
    }

    fn value(self, name: &str) -> &'call Value {
        let item = self.item.filter(|_| name == "item");
        item.or_else(|| self.arguments.get(name)).unwrap_or(&Value::Null)
    }
}

/// A plain text: values as they are.
pub(crate) fn text(template: &str, names: Names<'_>) -> String {
    let Ok(text) = filled::<Infallible>(template, |name| Ok(written(names.value(name))));
    text
}

/// A path or an address: a value is percent-encoded, so that it is one part of the path, or a piece of one.
pub(crate) fn path(template: &str, names: Names<'_>) -> Result<String, ToolError> {
    filled(template, |name| {
        let value = written(names.value(name));
        match value.as_str() {
            "" => Err(refused(&format!("{name} is empty"))),
            "." | ".." => Err(refused(&format!("{name} cannot be `{value}`"))),
            _ => Ok(encoded(&value)),
        }
    })
}

/// The value of a parameter; nothing when a value in it was not given, or is empty.
pub(crate) fn parameter(template: &str, names: Names<'_>) -> Option<String> {
    let filled = filled(template, |name| {
        let value = written(names.value(name));
        if value.is_empty() { Err(()) } else { Ok(value) }
    });
    filled.ok()
}

/// The names a template asks for.
pub(crate) fn placeholders(template: &str) -> Vec<&str> {
    pieces(template).filter_map(|(_, name)| name).collect()
}

fn refused(problem: &str) -> ToolError {
    ToolError::new(format!("{problem}: it is part of an address")).with_code("bad_arguments")
}

fn filled<E>(template: &str, mut fill: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
    let mut filled = String::new();
    for (text, name) in pieces(template) {
        filled.push_str(text);
        if let Some(name) = name {
            filled.push_str(&fill(name)?);
        }
    }
    Ok(filled)
}

/// Each piece of text with the name behind it. The host has checked the braces.
fn pieces(template: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    template.split('}').map(|piece| match piece.split_once('{') {
        Some((text, name)) => (text, Some(name)),
        None => (piece, None),
    })
}

/// A value as text: a list with commas, nothing for what was not given.
fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // As people write it: 1 and not 1.0.
        Value::Number(number) => {
            number.as_f64().filter(|_| number.is_f64()).map_or(number.to_string(), |it| it.to_string())
        }
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(","),
        Value::Bool(_) | Value::Object(_) => value.to_string(),
    }
}

fn encoded(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_stay_in_their_place() {
        for (value, expected) in [
            (json!("owlbear"), Ok("/a/owlbear/b")),
            (json!("a/../b?c=d&e#f"), Ok("/a/a%2F..%2Fb%3Fc%3Dd%26e%23f/b")),
            (json!("%2e%2e"), Ok("/a/%252e%252e/b")),
            (json!("https://evil.example"), Ok("/a/https%3A%2F%2Fevil.example/b")),
            (json!("{x}"), Ok("/a/%7Bx%7D/b")),
            (json!("猫\n"), Ok("/a/%E7%8C%AB%0A/b")),
            (json!(0.5), Ok("/a/0.5/b")),
            (json!(1.0), Ok("/a/1/b")),
            (json!([1, 2]), Ok("/a/1%2C2/b")),
            (json!(""), Err("x is empty: it is part of an address")),
            (json!([]), Err("x is empty: it is part of an address")),
            (Value::Null, Err("x is empty: it is part of an address")),
            (json!("."), Err("x cannot be `.`: it is part of an address")),
            (json!(".."), Err("x cannot be `..`: it is part of an address")),
        ] {
            let arguments = Given::from_iter([("x".to_owned(), value)]);
            let found = path("/a/{x}/b", Names::of(&arguments)).map_err(|error| error.message);
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        }
    }

    #[test]
    fn parameters_without_a_value_are_left_out() {
        let arguments = json!({"name": "a&b", "none": null, "empty": "", "kinds": ["x", "y"], "yes": true});
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let names = Names::of(&arguments);
        for (template, expected) in [
            ("{name}", Some("a&b")),
            ("{kinds}", Some("x,y")),
            ("{yes}", Some("true")),
            ("fixed", Some("fixed")),
            ("", Some("")),
            ("{none}", None),
            ("{empty}", None),
            ("{name}-{none}", None),
        ] {
            assert_eq!(parameter(template, names).as_deref(), expected, "{template}");
        }
        assert_eq!(text("# {name}\n{none}.", names), "# a&b\n.");
        let item = json!(7);
        assert_eq!(text("{item}: {name}", names.with(&item)), "7: a&b");
        assert_eq!(placeholders("/{a}/x-{b}"), ["a", "b"]);
    }
}
