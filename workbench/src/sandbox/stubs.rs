//! A domain's tools as Python: signatures a model reads, and the module a script imports.
//!
//! Both come from one place, so what a model was shown is what its script can call.

use std::fmt::Write;

use plugin_api::wire::ToolSpec;
use serde_json::Value;

use crate::domain::tool_names::KEYWORDS;

/// The tools as a model reads them: one signature each, with types, and its description. Valid
/// Python, and no longer than it has to be, since every run of code mode pays for it.
pub fn api_text(tools: &[ToolSpec]) -> String {
    tools.iter().map(|tool| Definition::of(tool).text()).collect::<Vec<_>>().join("\n\n")
}

/// The source of the module `tools`. Its functions return what `_call(name, arguments, optional)`
/// returns, which the sandbox puts into the module's namespace together with `ToolError`;
/// `optional` names the arguments that are not to be sent when they are `None`.
pub fn module_source(tools: &[ToolSpec]) -> String {
    let mut source = String::from("from __future__ import annotations\n");
    let mut names = vec![python_string("ToolError")];
    for tool in tools {
        let definition = Definition::of(tool);
        let _ = write!(source, "\n\n{}\n    return {}\n", definition.text(), definition.call(&tool.name));
        names.push(python_string(&definition.name));
    }
    let _ = write!(source, "\n\n__all__ = [{}]\n", names.join(", "));
    source
}

/// The source of coroutine functions that scripts find among their own names: each takes one dict and returns the result's
/// text. The one failure that they raise is a `TimeoutError`, for an answer that did not come in time; what
/// a tool refuses is a text like any other.
pub fn coroutine_source(tools: &[ToolSpec]) -> String {
    let mut source = String::new();
    let mut names = Vec::new();
    for tool in tools {
        let (name, quoted) = (python_name(&tool.name), python_string(&tool.name));
        let argument = tool.input_schema["properties"].as_object().and_then(|it| it.keys().next());
        // Names of arguments may be anything; in a text between single quotes some would end it.
        let example =
            argument.filter(|name| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'));
        let example = example.map_or_else(|| "{}".to_owned(), |name| format!("{{\"{name}\": ...}}"));
        let documentation = documentation_text(tool.description.trim());
        let _ = write!(
            source,
            "\n\nasync def {name}(*arguments, **named):\n    \"\"\"{documentation}\"\"\"\n    if named or \
             len(arguments) != 1 or not isinstance(arguments[0], dict):\n        raise TypeError('{name} takes one dict \
             with its arguments, such as {example}')\n    try:\n        \
             return await _call({quoted}, arguments[0])\n    except ToolError as error:\n        \
             raise TimeoutError(str(error)) from None\n"
        );
        names.push(python_string(&name));
    }
    let _ = write!(source, "\n\n__all__ = [{}]\n", names.join(", "));
    source
}

/// Name of the module that offers the tools of one domain, beside `tools`: `my_museum_tools` for `my-museum`.
pub fn domain_module(domain: &str) -> String {
    python_name(&format!("{domain}_tools"))
}

/// A tool as a Python function.
struct Definition {
    name: String,
    description: String,
    parameters: Vec<Parameter>,
}

struct Parameter {
    /// As the schema has it.
    name: String,
    /// As Python allows it.
    identifier: String,
    annotation: String,
    /// Python text of the default; `None`: it has to be given.
    default: Option<String>,
    /// Left out of the call when it is `None`.
    omitted: bool,
    description: String,
}

impl Definition {
    fn of(tool: &ToolSpec) -> Self {
        let schema = &tool.input_schema;
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object();
        let mut parameters: Vec<Parameter> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Parameter::of(name, schema, required.contains(&name.as_str())))
            .collect();
        // Python wants parameters without a default first.
        parameters.sort_by_key(|parameter| parameter.default.is_some());
        Self { name: python_name(&tool.name), description: tool.description.trim().to_owned(), parameters }
    }

    /// The signature and, as its body, the description.
    fn text(&self) -> String {
        let signature: Vec<String> = self.parameters.iter().map(Parameter::signature).collect();
        let mut text = format!("def {}({}):", self.name, signature.join(", "));
        let notes: Vec<String> = self.parameters.iter().filter_map(Parameter::note).collect();
        let paragraphs = [self.description.clone(), notes.join("\n")];
        let documentation: Vec<&str> = paragraphs.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let _ = write!(text, "\n    \"\"\"{}\"\"\"", documentation_text(&documentation.join("\n")));
        text
    }

    fn call(&self, tool: &str) -> String {
        let pair = |parameter: &Parameter| format!("{}: {}", python_string(&parameter.name), parameter.identifier);
        let arguments: Vec<String> = self.parameters.iter().map(pair).collect();
        let omitted = self.parameters.iter().filter(|parameter| parameter.omitted);
        let optional: Vec<String> = omitted.map(|parameter| python_string(&parameter.name) + ",").collect();
        format!("_call({}, {{{}}}, ({}))", python_string(tool), arguments.join(", "), optional.join(" "))
    }
}

impl Parameter {
    fn of(name: &str, schema: &Value, required: bool) -> Self {
        let default = schema.get("default").filter(|value| !value.is_null());
        let omitted = !required && default.is_none();
        let mut annotation = python_type(schema);
        if omitted && !annotation.ends_with("None") && annotation != "Any" {
            annotation.push_str(" | None");
        }
        Self {
            name: name.to_owned(),
            identifier: python_name(name),
            annotation,
            default: if required { None } else { Some(default.map_or_else(|| "None".into(), python_value)) },
            omitted,
            description: [text_of(schema, "description"), range_of(schema)].concat(),
        }
    }

    fn signature(&self) -> String {
        let Self { identifier, annotation, .. } = self;
        match &self.default {
            Some(default) => format!("{identifier}: {annotation} = {default}"),
            None => format!("{identifier}: {annotation}"),
        }
    }

    /// What the description says about it, if anything.
    fn note(&self) -> Option<String> {
        let description = self.description.trim();
        (!description.is_empty()).then(|| format!("{}: {description}", self.identifier))
    }
}

fn text_of(schema: &Value, key: &str) -> String {
    schema[key].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// ` (1 to 500)`, for a number with limits.
fn range_of(schema: &Value) -> String {
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(least), Some(most)) => format!(" ({least} to {most})"),
        // Unsigned numbers all have this one; it says little.
        (Some(0.0), None) | (None, None) => String::new(),
        (Some(least), None) => format!(" (at least {least})"),
        (None, Some(most)) => format!(" (at most {most})"),
    }
}

/// The Python type of what `schema` allows.
fn python_type(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return format!("Literal[{}]", values.iter().map(python_value).collect::<Vec<_>>().join(", "));
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(alternatives) = schema[union].as_array() {
            return union_of(alternatives.iter().map(python_type));
        }
    }
    match &schema["type"] {
        Value::String(kind) => named_type(kind, schema),
        Value::Array(kinds) => union_of(kinds.iter().filter_map(Value::as_str).map(|kind| named_type(kind, schema))),
        _ => "Any".into(),
    }
}

fn named_type(kind: &str, schema: &Value) -> String {
    match kind {
        "integer" => "int".into(),
        "number" => "float".into(),
        "boolean" => "bool".into(),
        "string" => "str".into(),
        "null" => "None".into(),
        "object" => "dict".into(),
        "array" if schema["items"].is_object() => format!("list[{}]", python_type(&schema["items"])),
        "array" => "list".into(),
        _ => "Any".into(),
    }
}

/// Each alternative once, `None` last.
fn union_of(alternatives: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for alternative in alternatives {
        if !distinct.contains(&alternative) {
            distinct.push(alternative);
        }
    }
    distinct.sort_by_key(|alternative| alternative == "None");
    distinct.join(" | ")
}

/// JSON as a Python literal.
pub fn python_value(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => python_string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(python_value).collect::<Vec<_>>().join(", ")),
        Value::Object(pairs) => {
            let pair = |(key, value): (&String, &Value)| format!("{}: {}", python_string(key), python_value(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// JSON's escapes all mean the same in Python.
fn python_string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Text that stays inside its three quotes, indented as the body of a function.
fn documentation_text(text: &str) -> String {
    let mut escaped = text.replace('\\', "\\\\").replace("\"\"\"", "'''").replace('\0', "");
    if escaped.ends_with('"') {
        escaped.push(' ');
    }
    escaped.replace('\n', "\n    ")
}

/// `name` as Python can say it: tools of other makers are called `get-object`, or have an argument `from`.
pub fn python_name(name: &str) -> String {
    let mut identifier: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if identifier.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    if KEYWORDS.contains(&identifier.as_str()) || identifier == "_call" {
        identifier.push('_');
    }
    identifier
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, schema: Value) -> ToolSpec {
        ToolSpec { name: name.into(), description: description.into(), input_schema: schema }
    }

    #[test]
    fn a_tool_reads_as_a_python_function() {
        let search = tool(
            "search-all",
            "Finds objects.\nReturns \"ids\"",
            json!({
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
                    "query": {"type": "string", "description": "What to\n look for."},
                    "from": {"type": ["null", "integer"], "minimum": 0},
                    "kinds": {"type": "array", "items": {"type": "string"}, "default": ["a", null, true]},
                    "order": {"enum": ["up", "down"], "default": "up"},
                    "where": {"anyOf": [{"type": "object"}, {"type": "null"}]},
                },
                "required": ["query"],
            }),
        );
        assert_eq!(
            api_text(std::slice::from_ref(&search)),
            r#"def search_all(query: str, limit: int = 100, from_: int | None = None, kinds: list[str] = ["a", None, True], order: Literal["up", "down"] = "up", where: dict | None = None):
    """Finds objects.
    Returns "ids"
    query: What to look for.
    limit: (1 to 500)""""#
        );
        assert!(module_source(&[search]).ends_with(
            r#"
    return _call("search-all", {"query": query, "limit": limit, "from": from_, "kinds": kinds, "order": order, "where": where}, ("from", "where",))


__all__ = ["ToolError", "search_all"]
"#
        ));
    }

    #[test]
    fn every_domain_has_a_module_that_python_can_name() {
        for (domain, module) in [
            ("met", "met_tools"),
            ("dnd-encounter", "dnd_encounter_tools"),
            ("3d", "_3d_tools"),
            ("class", "class_tools"),
        ] {
            assert_eq!(domain_module(domain), module);
        }
    }

    #[test]
    fn a_description_cannot_leave_its_quotes() {
        let text = api_text(&[tool("t", "ends with \\ and \"\"\" and \"", json!({}))]);
        assert_eq!(text, "def t():\n    \"\"\"ends with \\\\ and ''' and \" \"\"\"");
    }
}
