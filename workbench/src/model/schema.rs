//! JSON schemas of tools, as far as providers refuse some.

use serde_json::Value;

/// The first reference of a schema that leads back to itself, directly or over others: no provider that runs scripts takes
/// one.
pub fn circular_reference(schema: &Value) -> Option<&str> {
    visit(schema, schema, &mut Vec::new())
}

fn visit<'a>(root: &'a Value, value: &'a Value, open: &mut Vec<&'a str>) -> Option<&'a str> {
    match value {
        Value::Array(items) => items.iter().find_map(|item| visit(root, item, open)),
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                if reference == "#" || open.contains(&reference) {
                    return Some(reference);
                }
                if let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
                    open.push(reference);
                    let found = visit(root, target, open);
                    open.pop();
                    if found.is_some() {
                        return found;
                    }
                }
            }
            fields.values().find_map(|value| visit(root, value, open))
        }
        _ => None,
    }
}
