//! The names of files and the paths that `[evidence]` reads: templates over `{{ item }}`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use minijinja::{Environment, Error, ErrorKind, Output, State, Value, context};

use super::{RuleError, texts, tree};

/// What a filled template is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A file name: items are written as they are.
    FileName,
    /// A path of the API: items come from what a model made, so they are percent-encoded and cannot
    /// leave their place in the path.
    Path,
}

static FILE_NAMES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    super::limit(&mut environment);
    environment
});

static PATHS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    super::limit(&mut environment);
    environment.set_formatter(write_encoded);
    environment
});

/// Fills in `item`, one entry of the list that `each` names.
///
/// # Errors
/// What the template or the item lacks.
pub fn fill(template: &str, item: &Value, purpose: Purpose) -> Result<String, RuleError> {
    let environment = match purpose {
        Purpose::FileName => &FILE_NAMES,
        Purpose::Path => &PATHS,
    };
    tree::refuse_too_long(template, false)?;
    environment.render_str(template, context! { item }).map_err(|error| RuleError::from_engine(template, &error))
}

/// The names a template asks for: `item`, or none.
///
/// # Errors
/// When it is no template, and when it asks for anything else.
pub fn placeholders(template: &str) -> Result<BTreeSet<String>, RuleError> {
    tree::refuse_too_long(template, false)?;
    let error = |error: Error| RuleError::from_engine(template, &error);
    let names = FILE_NAMES.template_from_str(template).map_err(error)?.undeclared_variables(false);
    if let Some(name) = names.iter().find(|name| *name != "item") {
        let range = word(template, name);
        let error = RuleError::new(template, format!("unknown name `{name}`"), range);
        return Err(RuleError { help: Some("only `{{ item }}` can be filled in".to_owned()), ..error });
    }
    Ok(names.into_iter().collect())
}

/// Where a name first stands as a word of its own, inside braces.
fn word(template: &str, name: &str) -> Option<Range<usize>> {
    let inside = template.find('{')?;
    let is_part = |letter: char| letter == '_' || letter.is_alphanumeric();
    let mut places = template[inside..].match_indices(name).map(|(at, _)| inside + at..inside + at + name.len());
    places.find(|place| !template[..place.start].ends_with(is_part) && !template[place.end..].starts_with(is_part))
}

fn write_encoded(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    texts::affordable(state, std::iter::once(value.clone()))?;
    let text = value.to_string();
    if matches!(text.as_str(), "" | "." | "..") {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("`{text}` cannot be part of a path")));
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            write!(out, "{}", char::from(byte))?;
        } else {
            write!(out, "%{byte:02X}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use minijinja::value::Serde;

    use super::*;

    #[test]
    fn items_cannot_leave_their_place_in_a_path() {
        let cases = [
            (Value::from(436_535), "/v1/objects/436535"),
            (Value::from("a/../b?c=d&e#f"), "/v1/objects/a%2F..%2Fb%3Fc%3Dd%26e%23f"),
            (Value::from("猫"), "/v1/objects/%E7%8C%AB"),
        ];
        for (item, path) in cases {
            assert_eq!(fill("/v1/objects/{{ item }}", &item, Purpose::Path).unwrap(), path);
        }
        for item in ["", ".", ".."] {
            assert!(fill("/v1/objects/{{ item }}", &Value::from(item), Purpose::Path).is_err());
        }
        assert_eq!(fill("{{ item }}.jpg", &Value::from("a b"), Purpose::FileName).unwrap(), "a b.jpg");
    }

    #[test]
    fn attributes_of_items_are_reached_and_missed() {
        let item = Value::from(Serde(serde_json::json!({ "species": { "name": "eevee" } })));
        assert_eq!(fill("/s/{{ item.species.name }}", &item, Purpose::Path).unwrap(), "/s/eevee");
        for purpose in [Purpose::Path, Purpose::FileName] {
            assert!(fill("/s/{{ item.nosuch }}", &item, purpose).is_err());
            let large = Value::from("x".repeat(1 << 20));
            let error = fill("{{ [item] * 1000 }}", &large, purpose).unwrap_err();
            assert_eq!(error.reason, "it takes too many steps, or too much memory");
        }
    }
}
