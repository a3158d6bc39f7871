//! JSON schemas of tools, as far as providers refuse some.

use std::collections::HashSet;

use serde_json::Value;

/// The first reference of a schema that leads back to itself, directly or over others: no provider that runs scripts takes
/// one. However references are strewn, each is followed once.
pub fn circular_reference(schema: &Value) -> Option<&str> {
    let (mut followed, mut open) = (HashSet::new(), HashSet::new());
    // References that lead to each other in a long chain would be too deep for a recursion.
    let mut path = vec![(None, references(schema).into_iter())];
    while let Some((name, left)) = path.last_mut() {
        let Some(reference) = left.next() else {
            if let Some(name) = *name {
                open.remove(name);
            }
            path.pop();
            continue;
        };
        if open.contains(reference) {
            return Some(reference);
        }
        let target = reference.strip_prefix('#').and_then(|pointer| schema.pointer(pointer));
        if let Some(target) = target
            && followed.insert(reference)
        {
            open.insert(reference);
            path.push((Some(reference), references(target).into_iter()));
        }
    }
    None
}

/// The references in a part of a schema.
fn references(part: &Value) -> Vec<&str> {
    let (mut found, mut left) = (Vec::new(), vec![part]);
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items.iter().rev()),
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                left.extend(fields.values().rev());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn chain(length: usize, last: &Value) -> Value {
        let names = (0..length).map(|number| {
            let next = json!({ "$ref": format!("#/$defs/{}", number + 1) });
            (number.to_string(), json!({ "anyOf": [next, next] }))
        });
        let definitions: Map<String, Value> = names.chain([(length.to_string(), last.clone())]).collect();
        json!({ "$ref": "#/$defs/0", "$defs": definitions })
    }

    #[test]
    fn a_reference_that_leads_back_is_found_however_they_are_strewn() {
        let table = [
            (json!({ "properties": { "a": { "type": "string" } } }), None),
            (json!({ "properties": { "a": { "$ref": "#" } } }), Some("#")),
            (json!({ "properties": { "a": { "$ref": "#/properties" } } }), Some("#/properties")),
            (json!({ "properties": { "a": { "$ref": "#/$defs/b" } }, "$defs": { "b": { "type": "string" } } }), None),
            (json!({ "$ref": "#/$defs/nowhere" }), None),
            (json!({ "properties": { "$ref": { "type": "string" } } }), None),
            (chain(40, &json!({ "type": "string" })), None),
            (chain(20_000, &json!({ "type": "string" })), None),
            (chain(20_000, &json!({ "$ref": "#/$defs/7" })), Some("#/$defs/7")),
        ];
        for (schema, found) in &table {
            let beginning: String = schema.to_string().chars().take(100).collect();
            assert_eq!(circular_reference(schema), *found, "{beginning}");
        }
    }
}
