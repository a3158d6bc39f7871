//! The tools of a request: who may call them, and what does not go together with scripts that call them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use plugin_api::wire::ToolSpec;
use serde_json::Value;

use super::fields::{Fields, Kind};
use super::refusal::Refusal;
use crate::model::schema::circular_reference;
use crate::sandbox::stubs::python_name;

/// Name of the tool that runs cells.
pub(super) const CODE_EXECUTION: &str = "code_execution";

/// The versions of that tool whose cells may call the request's other tools. A model without programmatic calling takes
/// them as it takes the older ones.
const PROGRAMMATIC: [&str; 2] = ["code_execution_20260120", "code_execution_20260521"];

/// Versions of it that only run code, which this server does not do without more.
const PLAIN: [&str; 2] = ["code_execution_20250522", "code_execution_20250825"];

/// Who may be named as a caller; the second is of an older time, and is served as the later ones are.
const CALLERS: [&str; 4] = ["direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"];

/// The caller that replies name, whichever version was declared.
pub(super) const CALLER: &str = "code_execution_20260120";

/// What fields of a tool have to be that do nothing, or only where code calls it.
const IDLE: &[(&str, Kind)] = &[
    ("cache_control", Kind::Object),
    ("strict", Kind::Flag),
    ("input_examples", Kind::List),
    ("defer_loading", Kind::Flag),
    ("eager_input_streaming", Kind::Flag),
];

/// One custom tool.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) spec: ToolSpec,
    /// Whether the model may call it itself.
    pub(super) direct: bool,
    /// Whether its scripts may.
    pub(super) from_code: bool,
}

/// What a request has of tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    pub(super) custom: Vec<Tool>,
    /// Those of them that code may call.
    pub(super) called_from_code: Arc<[ToolSpec]>,
    /// Whether there is a tool that runs cells.
    pub(super) code_execution: bool,
    /// Whether the model is offered none of them this time.
    pub(super) none_offered: bool,
    /// Whether the model may be sampled with several calls in one answer.
    pub(super) parallel_calls: bool,
}

/// The names that the tools before have.
#[derive(Default)]
struct Names<'a> {
    taken: HashSet<&'a str>,
    /// Of those that code may call, by what code calls them.
    in_code: HashMap<String, &'a str>,
}

impl Tools {
    /// Reads `tools` and `tool_choice`.
    pub(super) fn read(request: &Fields<'_>) -> Result<Self, Refusal> {
        let mut tools = Self { parallel_calls: true, ..Self::default() };
        let mut names = Names::default();
        for (number, value) in request.list_if_any("tools")?.unwrap_or_default().iter().enumerate() {
            tools.add(&format!("tools.{number}"), value, &mut names)?;
        }
        let from_code = tools.custom.iter().filter(|tool| tool.from_code);
        tools.called_from_code = from_code.map(|tool| tool.spec.clone()).collect();
        if !tools.called_from_code.is_empty() && !tools.code_execution {
            return Err(Refusal::invalid(
                "tools: `allowed_callers` names code execution, but no `code_execution` tool was provided",
            ));
        }
        if let Some(choice) = request.get("tool_choice") {
            if tools.custom.is_empty() && !tools.code_execution {
                return Err(Refusal::invalid("tool_choice may only be specified while providing tools."));
            }
            tools.choose(&Fields::of("tool_choice", choice)?)?;
        }
        Ok(tools)
    }

    fn add<'a>(&mut self, path: &str, value: &'a Value, names: &mut Names<'a>) -> Result<(), Refusal> {
        let fields = Fields::of(path, value)?;
        let kind = fields.text_if_any("type")?.unwrap_or("custom");
        match kind {
            "custom" => self.add_custom(&fields, names),
            kind if PROGRAMMATIC.contains(&kind) || PLAIN.contains(&kind) => {
                fields.only(&["type", "name", "cache_control", "allowed_callers", "defer_loading", "strict"])?;
                fields.kinds(IDLE)?;
                fields.kinds(&[("allowed_callers", Kind::List)])?;
                if fields.text("name")? != CODE_EXECUTION {
                    return Err(Refusal::field(fields.path("name"), "'code_execution'"));
                }
                if self.code_execution {
                    return Err(Refusal::invalid("tools: Tool names must be unique."));
                }
                if PLAIN.contains(&kind) {
                    return Err(Refusal::invalid(format!(
                        "{}: this server runs the programmatic versions only: {}",
                        fields.path("type"),
                        PROGRAMMATIC.join(", ")
                    )));
                }
                self.code_execution = true;
                Ok(())
            }
            other => Err(Refusal::invalid(format!(
                "{}: this server has no tool of type '{other}'; it has 'custom' and {}",
                fields.path("type"),
                PROGRAMMATIC.map(|kind| format!("'{kind}'")).join(", ")
            ))),
        }
    }

    fn add_custom<'a>(&mut self, fields: &Fields<'a>, names: &mut Names<'a>) -> Result<(), Refusal> {
        fields.only(&[
            "type",
            "name",
            "description",
            "input_schema",
            "allowed_callers",
            "strict",
            "input_examples",
            "defer_loading",
            "eager_input_streaming",
            "cache_control",
        ])?;
        fields.kinds(IDLE)?;
        let name = fields.text("name")?;
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_safe) {
            return Err(Refusal::invalid(format!(
                "{}: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'",
                fields.path("name")
            )));
        }
        if name == CODE_EXECUTION || !names.taken.insert(name) {
            return Err(Refusal::invalid("tools: Tool names must be unique."));
        }
        let schema = fields.required("input_schema")?;
        if Fields::of(&fields.path("input_schema"), schema)?.text("type")? != "object" {
            return Err(Refusal::field(fields.path("input_schema.type"), "'object'"));
        }
        let (mut direct, mut from_code) = (true, false);
        if let Some(callers) = fields.list_if_any("allowed_callers")? {
            let path = fields.path("allowed_callers");
            if callers.is_empty() {
                return Err(Refusal::invalid(format!("{path}: List should have at least 1 item after validation")));
            }
            direct = false;
            for (number, caller) in callers.iter().enumerate() {
                match caller.as_str() {
                    Some("direct") => direct = true,
                    Some(caller) if CALLERS.contains(&caller) => from_code = true,
                    _ => {
                        let known = CALLERS.map(|caller| format!("'{caller}'")).join(", ");
                        return Err(Refusal::field(format!("{path}.{number}"), &known));
                    }
                }
            }
        }
        if from_code && fields.flag("strict")? {
            return Err(Refusal::invalid(format!(
                "{}: strict tools are not supported with programmatic tool calling; leave it out of `{name}`, or set \
                 `allowed_callers` to [\"direct\"]",
                fields.path("strict")
            )));
        }
        if from_code && let Some(circle) = circular_reference(schema) {
            return Err(Refusal::invalid(format!(
                "{}: Circular $ref detected: {circle}. Tools that are called from code cannot have a schema that refers \
                 to itself",
                fields.path("input_schema")
            )));
        }
        let in_code = python_name(name);
        if from_code && let Some(other) = names.in_code.get(&in_code) {
            return Err(Refusal::invalid(format!(
                "{}: `{other}` and `{name}` are both `{in_code}` in code, where a name has letters, digits and underscores",
                fields.path("name")
            )));
        }
        if from_code {
            names.in_code.insert(in_code, name);
        }
        let description = fields.text_if_any("description")?.unwrap_or_default().to_owned();
        let spec = ToolSpec { name: name.to_owned(), description, input_schema: schema.clone() };
        self.custom.push(Tool { spec, direct, from_code });
        Ok(())
    }

    fn choose(&mut self, choice: &Fields<'_>) -> Result<(), Refusal> {
        choice.only(&["type", "name", "disable_parallel_tool_use"])?;
        if choice.flag("disable_parallel_tool_use")? {
            if !self.called_from_code.is_empty() {
                return Err(Refusal::invalid(
                    "tool_choice.disable_parallel_tool_use: not supported with programmatic tool calling",
                ));
            }
            self.parallel_calls = false;
        }
        match choice.text("type")? {
            "auto" => Ok(()),
            "none" => {
                self.none_offered = true;
                Ok(())
            }
            "any" => Err(Refusal::invalid("tool_choice: this server cannot force a tool; use {\"type\": \"auto\"}")),
            "tool" => {
                let name = choice.text("name")?;
                match self.custom.iter().find(|tool| tool.spec.name == name) {
                    None => {
                        Err(Refusal::invalid(format!("tool_choice.name: Tool '{name}' not found in provided tools")))
                    }
                    Some(tool) if !tool.direct => Err(Refusal::invalid(format!(
                        "tool_choice: `{name}` cannot be forced: its `allowed_callers` do not have 'direct'"
                    ))),
                    Some(_) => {
                        Err(Refusal::invalid("tool_choice: this server cannot force a tool; use {\"type\": \"auto\"}"))
                    }
                }
            }
            _ => Err(Refusal::field(choice.path("type"), "'auto', 'any', 'tool' or 'none'")),
        }
    }
}
