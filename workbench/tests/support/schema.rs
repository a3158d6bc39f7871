//! The part of JSON Schema that the manifest's schema uses, for tests. A validator crate would take
//! longer to compile than the workspace's own code; an unknown keyword here is a panic, so nothing is
//! passed over.

#![allow(clippy::unwrap_used)]

use serde_json::Value;

pub(crate) fn committed() -> Value {
    serde_json::from_str(include_str!("../../domain.schema.json")).unwrap()
}

/// What is wrong with `document`, each with its place.
pub(crate) fn problems(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, document, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, wanted) in schema.as_object().unwrap() {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "examples" => true,
            "$ref" => {
                let target = root.pointer(wanted.as_str().unwrap().trim_start_matches('#')).unwrap();
                check(root, target, value, at, found);
                true
            }
            "type" => match wanted.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                other => panic!("unknown type {other}"),
            },
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
            "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().unwrap()),
            "pattern" => {
                value.as_str().is_none_or(|text| regex::Regex::new(wanted.as_str().unwrap()).unwrap().is_match(text))
            }
            "required" => wanted.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "oneOf" => {
                let fits = |choice: &&Value| {
                    let mut inner = Vec::new();
                    check(root, choice, value, at, &mut inner);
                    inner.is_empty()
                };
                wanted.as_array().unwrap().iter().filter(fits).count() == 1
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{at}/{index}"), found);
                }
                true
            }
            "properties" => {
                for (key, inner) in wanted.as_object().unwrap() {
                    if let Some(item) = value.get(key) {
                        check(root, inner, item, &format!("{at}/{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |key: &str| schema.pointer(&format!("/properties/{key}")).is_some();
                for (key, item) in value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)) {
                    match wanted {
                        Value::Bool(false) => found.push(format!("{at}/{key}: unknown key")),
                        inner => check(root, inner, item, &format!("{at}/{key}"), found),
                    }
                }
                true
            }
            other => panic!("unknown keyword {other}"),
        };
        if !holds {
            found.push(format!("{at}: {keyword} {wanted}"));
        }
    }
}
