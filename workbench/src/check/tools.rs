//! The section `tools`: what a model is told of them, and what providers and Python take.

use plugin_api::wire::ToolSpec;
use serde_json::Value;

use super::{Section, listed};
use crate::domain::Domain;
use crate::model::tokens::count_tools;
use crate::report::table::{counted, grouped};
use crate::runner::{Mode, Opening};
use crate::sandbox::stubs::python_name;

/// Letters of a tool's name that the APIs of models take: `^[a-zA-Z0-9_-]{1,64}$`.
const LONGEST_NAME: usize = 64;
/// Tokens of definitions from which on providers advise to let the model search for tools.
const MANY_TOKENS: u64 = 10_000;
/// Names of Python that scripts use all the time; `from tools import *` would take them away.
const BUILTINS: [&str; 23] = [
    "all",
    "any",
    "dict",
    "enumerate",
    "filter",
    "float",
    "format",
    "int",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "open",
    "print",
    "range",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "zip",
];
/// Names that code mode has for itself.
const OWN_NAMES: [&str; 3] = ["run_python", "tools", "ToolError"];

/// What is to be said of a domain's tools.
pub fn section(domain: &Domain, tools: &[ToolSpec]) -> Section {
    let mut section = Section::new("tools");
    let definitions = Opening::of(domain, Mode::Loop, tools, &domain.manifest.limits).tools;
    let tokens = count_tools(&definitions);
    section.fact(format!(
        "{}, ≈{} tokens on every turn of serial and loop",
        counted(tools.len() as u64, "tool"),
        grouped(tokens)
    ));
    if tools.is_empty() {
        section.short("there is no tool, so there is nothing to call", "name tools in `plugin!(…)`");
    }
    if tokens > MANY_TOKENS {
        section.warn(
            format!(
                "the definitions have ≈{} tokens, which every turn reads; {} is much",
                grouped(tokens),
                grouped(MANY_TOKENS)
            ),
            "shorten descriptions, leave out tools the task does not need, or let the provider search for tools \
             (`tool search`, `defer_loading`)",
        );
    }
    for (index, tool) in tools.iter().enumerate() {
        description(&mut section, tool);
        name(&mut section, tool, &tools[..index]);
        schema(&mut section, tool);
    }
    section
}

fn description(section: &mut Section, tool: &ToolSpec) {
    let (name, text) = (&tool.name, tool.description.trim());
    if text.is_empty() {
        section.short(
            format!("`{name}` has no description: a model can only guess what it does"),
            "say what it does, what it returns and when it fails",
        );
    } else if !text.to_lowercase().contains("return") {
        section.warn(
            format!("`{name}` does not say what it returns: a script is written before any answer was seen"),
            "add a sentence such as `Returns {total, ids}: …`, with the fields a script needs",
        );
    }
}

fn name(section: &mut Section, tool: &ToolSpec, before: &[ToolSpec]) {
    let name = &tool.name;
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_taken) {
        section.short(
            format!("`{name}` is no name that the APIs of models take"),
            format!("use letters, digits, `_` and `-`, at most {LONGEST_NAME}"),
        );
        return;
    }
    let in_python = python_name(name);
    if let Some(other) = before.iter().find(|other| python_name(&other.name) == in_python) {
        section.short(
            format!(
                "`{}` and `{name}` are both `{in_python}` in a script, so one of them cannot be called",
                other.name
            ),
            "rename one of them",
        );
    } else if BUILTINS.contains(&name.as_str()) || OWN_NAMES.contains(&name.as_str()) {
        section.warn(
            format!("`{name}` has another meaning in a script, which `from tools import *` takes away"),
            format!("name it after what it is about, such as `{name}_items`"),
        );
    } else if in_python != *name {
        section.warn(
            format!(
                "Python cannot say `{name}`: in code mode it is `{in_python}`, and not named as in the other modes"
            ),
            "use letters, digits and `_`, and no word of Python",
        );
    }
}

fn schema(section: &mut Section, tool: &ToolSpec) {
    let (name, schema) = (&tool.name, &tool.input_schema);
    if schema["type"] != "object" {
        section.short(
            format!("the schema of `{name}` is not of `type` `object`, and the APIs of models refuse it"),
            "take named arguments",
        );
    }
    if has_reference(schema) {
        section.warn(
            format!("the schema of `{name}` has a `$ref`: code mode shows it as `Any`, and one that refers to itself is refused where code calls the tool"),
            "write out what it refers to",
        );
    }
    let arguments = schema["properties"].as_object().into_iter().flatten();
    let (mut renamed, mut nested) = (Vec::new(), Vec::new());
    for (argument, schema) in arguments {
        if python_name(argument) != *argument {
            renamed.push(argument.as_str());
        }
        if has_object(schema) {
            nested.push(argument.as_str());
        }
    }
    if !renamed.is_empty() {
        section.warn(
            format!("Python cannot say the argument {} of `{name}`: code mode adds a `_`", listed(renamed)),
            "choose another name, such as `start` for `from`",
        );
    }
    if !nested.is_empty() {
        section.warn(
            format!(
                "the argument {} of `{name}` is an object of its own: code mode shows `dict`, without its keys",
                listed(nested)
            ),
            "take its parts as arguments, or name its keys in the description",
        );
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(entries) => entries.contains_key("$ref") || entries.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// Whether an object with keys of its own may stand here or within.
fn has_object(schema: &Value) -> bool {
    match schema {
        Value::Object(entries) => {
            entries.get("properties").is_some_and(Value::is_object) || entries.values().any(has_object)
        }
        Value::Array(items) => items.iter().any(has_object),
        _ => false,
    }
}
