//! The messages of a request: what was said, and whether it holds together.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::fields::{Fields, Kind};
use super::refusal::Refusal;
use super::tools::{CODE_EXECUTION, Tools};
use crate::model::types::Role;

/// A part of a message, as far as it means something here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// Thinking: nothing that scripts or stand-ins think of.
    Ignored,
    ToolUse {
        id: String,
        name: String,
        input: Value,
        cell: Option<String>,
    },
    ToolResult {
        id: String,
        text: String,
        is_error: bool,
    },
    Cell {
        id: String,
        input: Value,
    },
    CellResult {
        id: String,
        text: String,
    },
}

/// What one side said until the other spoke.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    pub(super) role: Role,
    pub(super) parts: Vec<Part>,
    /// Number of its last message.
    number: usize,
}

/// All that was said.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    pub(super) turns: Vec<Turn>,
    /// Results for calls that cells wait for: id, text.
    pub(super) answers: Vec<(String, String)>,
    /// The cell that has no result yet, and so waits for them or was put off.
    pub(super) open_cell: Option<String>,
}

impl Messages {
    /// Reads `messages`.
    pub(super) fn read(request: &Fields<'_>, tools: &Tools) -> Result<Self, Refusal> {
        let list = request.list_if_any("messages")?.ok_or_else(|| Refusal::missing("messages"))?;
        let mut turns: Vec<Turn> = Vec::new();
        for (number, message) in list.iter().enumerate() {
            let (role, parts) = message_of(number, message)?;
            match turns.last_mut().filter(|turn| turn.role == role) {
                Some(turn) => {
                    turn.parts.extend(parts);
                    turn.number = number;
                }
                None => turns.push(Turn { role, parts, number }),
            }
        }
        match turns.first() {
            None => return Err(Refusal::invalid("messages: at least one message is required")),
            Some(turn) if turn.role == Role::Assistant => {
                return Err(Refusal::invalid("messages: first message must use the \"user\" role"));
            }
            Some(_) => {}
        }
        distinct_calls(&turns)?;
        let open_cell = cells(&turns)?;
        let answers = pairs(&turns, open_cell.as_deref())?;
        if open_cell.is_some() && !tools.code_execution {
            return Err(Refusal::invalid(
                "messages: a `code_execution` tool use is open, but no `code_execution` tool was provided",
            ));
        }
        Ok(Self { turns, answers, open_cell })
    }

    /// The last thing that was said.
    pub(super) fn last(&self) -> Option<&Turn> {
        self.turns.last()
    }
}

fn message_of(number: usize, message: &Value) -> Result<(Role, Vec<Part>), Refusal> {
    let path = format!("messages.{number}");
    let fields = Fields::of(&path, message)?;
    fields.only(&["role", "content"])?;
    let role = match fields.text("role")? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Err(Refusal::field(fields.path("role"), "'user' or 'assistant'")),
    };
    let parts = match fields.required("content")? {
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(blocks) => {
            let at = |index: usize| format!("{path}.content.{index}");
            blocks.iter().enumerate().map(|(index, block)| part(role, &at(index), block)).collect::<Result<_, _>>()?
        }
        _ => return Err(Refusal::field(fields.path("content"), "a valid string or list")),
    };
    let is_empty = |part: &Part| matches!(part, Part::Text(text) if text.is_empty());
    if parts.iter().all(is_empty) {
        return Err(Refusal::invalid(format!(
            "{path}: all messages must have non-empty content except for the optional final assistant message"
        )));
    }
    Ok((role, parts))
}

/// What fields of a block have to be that do nothing.
const IDLE: &[(&str, Kind)] = &[
    ("cache_control", Kind::Object),
    ("citations", Kind::List),
    ("toolset_name", Kind::Text),
    ("caller", Kind::Object),
];

fn part(role: Role, path: &str, block: &Value) -> Result<Part, Refusal> {
    let fields = Fields::of(path, block)?;
    fields.kinds(IDLE)?;
    match (role, fields.text("type")?) {
        (_, "text") => {
            fields.only(&["type", "text", "cache_control", "citations"])?;
            match fields.text("text")? {
                "" => Err(Refusal::invalid(format!("{path}: text content blocks must be non-empty"))),
                text => Ok(Part::Text(text.to_owned())),
            }
        }
        (Role::Assistant, "thinking" | "redacted_thinking") => Ok(Part::Ignored),
        (Role::Assistant, "tool_use") => {
            fields.only(&["type", "id", "name", "input", "caller", "cache_control", "toolset_name"])?;
            let input = fields.required("input")?;
            Fields::of(&fields.path("input"), input)?;
            Ok(Part::ToolUse {
                id: fields.text("id")?.to_owned(),
                name: fields.text("name")?.to_owned(),
                input: input.clone(),
                cell: caller(&fields)?,
            })
        }
        (Role::Assistant, "server_tool_use") => {
            fields.only(&["type", "id", "name", "input", "caller", "cache_control"])?;
            if fields.text("name")? != CODE_EXECUTION {
                return Err(Refusal::field(fields.path("name"), "'code_execution'"));
            }
            // A model may have written anything for its code, or nothing.
            let input = fields.required("input")?;
            Fields::of(&fields.path("input"), input)?;
            Ok(Part::Cell { id: fields.text("id")?.to_owned(), input: input.clone() })
        }
        (Role::Assistant, "code_execution_tool_result") => {
            fields.only(&["type", "tool_use_id", "content", "cache_control"])?;
            let content = fields.required("content")?;
            Fields::of(&fields.path("content"), content)?;
            Ok(Part::CellResult { id: fields.text("tool_use_id")?.to_owned(), text: result_text(content) })
        }
        (Role::User, "tool_result") => {
            fields.only(&["type", "tool_use_id", "content", "is_error", "cache_control"])?;
            let text = match fields.get("content") {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(blocks)) => texts(&fields.path("content"), blocks)?,
                Some(_) => return Err(Refusal::field(fields.path("content"), "a valid string or list")),
            };
            Ok(Part::ToolResult {
                id: fields.text("tool_use_id")?.to_owned(),
                text,
                is_error: fields.flag("is_error")?,
            })
        }
        (_, kind) => {
            let who = if role == Role::User { "user" } else { "assistant" };
            Err(Refusal::invalid(format!("{path}.type: a block of type '{kind}' is not read here from the {who}")))
        }
    }
}

/// The cell that made a call; nothing when the model made it itself.
fn caller(fields: &Fields<'_>) -> Result<Option<String>, Refusal> {
    let Some(caller) = fields.get("caller") else { return Ok(None) };
    let caller = Fields::of(&fields.path("caller"), caller)?;
    match caller.text("type")? {
        "direct" => Ok(None),
        "code_execution_20250825" | "code_execution_20260120" => Ok(Some(caller.text("tool_id")?.to_owned())),
        _ => {
            Err(Refusal::field(caller.path("type"), "'direct', 'code_execution_20250825' or 'code_execution_20260120'"))
        }
    }
}

/// The text of a result that is a list of blocks: text only.
fn texts(path: &str, blocks: &[Value]) -> Result<String, Refusal> {
    let mut text = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let fields = Fields::of(&format!("{path}.{index}"), block)?;
        fields.kinds(IDLE)?;
        match fields.text("type")? {
            "text" => text.push_str(fields.text("text")?),
            kind => {
                return Err(Refusal::invalid(format!(
                    "{path}.{index}.type: results are text here, and a block of type '{kind}' is none; a call made from \
                     code takes text only"
                )));
            }
        }
    }
    Ok(text)
}

/// What a model reads of the result of a cell.
pub(super) fn result_text(content: &Value) -> String {
    if let Some(code) = content["error_code"].as_str() {
        return format!("error: {code}");
    }
    let stream = |name: &str| content[name].as_str().unwrap_or_default();
    let mut text = match content["return_code"].as_i64() {
        Some(0) | None => String::new(),
        Some(code) => format!("return code {code}\n"),
    };
    text.push_str(stream("stdout"));
    text.push_str(stream("stderr"));
    if text.is_empty() { "(no output)".to_owned() } else { text }
}

/// A call that has the id of another could not be told from it.
fn distinct_calls(turns: &[Turn]) -> Result<(), Refusal> {
    let mut known = HashSet::new();
    for turn in turns {
        for (index, part) in turn.parts.iter().enumerate() {
            if let Part::ToolUse { id, .. } | Part::Cell { id, .. } = part
                && !known.insert(id)
            {
                let place = format!("messages.{}.content.{index}", turn.number);
                return Err(Refusal::invalid(format!("{place}: `tool_use` ids must be unique")));
            }
        }
    }
    Ok(())
}

/// Pairs cells with their results; the one that may be open is the last.
fn cells(turns: &[Turn]) -> Result<Option<String>, Refusal> {
    // Their ids differ; each with its place among all cells.
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut known: HashSet<&str> = HashSet::new();
    for turn in turns {
        for (index, part) in turn.parts.iter().enumerate() {
            match part {
                Part::Cell { id, .. } => {
                    open.insert(id, known.len());
                    known.insert(id);
                }
                Part::CellResult { id, .. } => {
                    let Some(_) = open.remove(id.as_str()) else {
                        return Err(Refusal::invalid(format!(
                            "messages.{}.content.{index}: `code_execution_tool_result` block for `{id}`, which no \
                             `code_execution` tool use waits for",
                            turn.number
                        )));
                    };
                }
                Part::ToolUse { cell: Some(cell), .. } if !known.contains(cell.as_str()) => {
                    return Err(Refusal::invalid(format!(
                        "messages.{}.content.{index}.caller.tool_id: no `server_tool_use` block has the id `{cell}`",
                        turn.number
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(open.into_iter().min_by_key(|(_, place)| *place).map(|(cell, _)| cell.to_owned()))
}

/// Pairs calls with their results, and gives back those that cells wait for.
fn pairs(turns: &[Turn], open_cell: Option<&str>) -> Result<Vec<(String, String)>, Refusal> {
    let mut answers = Vec::new();
    for (place, turn) in turns.iter().enumerate() {
        let mut calls: HashMap<&str, Option<&str>> = HashMap::new();
        for part in &turn.parts {
            if let Part::ToolUse { id, cell, .. } = part {
                calls.insert(id, cell.as_deref());
            }
        }
        let next = turns.get(place + 1);
        let results: &[Part] = next.map(|turn| turn.parts.as_slice()).unwrap_or_default();
        let leading = results.iter().take_while(|part| matches!(part, Part::ToolResult { .. })).count();
        let mut answered = HashSet::new();
        for (index, part) in results.iter().enumerate() {
            let Part::ToolResult { id, text, .. } = part else { continue };
            if turn.role == Role::Assistant && (!calls.contains_key(id.as_str()) || !answered.insert(id.as_str())) {
                return Err(unexpected(next.map_or(0, |turn| turn.number), index, id));
            }
            if index < leading && place + 2 == turns.len() && calls.get(id.as_str()).is_some_and(Option::is_some) {
                // A failure is a text like any other in the code.
                answers.push((id.clone(), text.clone()));
            }
        }
        let in_front: HashSet<&str> = results[..leading]
            .iter()
            .filter_map(|part| match part {
                Part::ToolResult { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        let missing: Vec<&str> = turn
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolUse { id, .. } if !in_front.contains(id.as_str()) => Some(id.as_str()),
                _ => None,
            })
            .collect();
        if !missing.is_empty() {
            return Err(Refusal::invalid(format!(
                "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                turn.number,
                missing.join(", ")
            )));
        }
        if let (Some(cell), true) = (open_cell, place + 2 == turns.len() && results.len() > leading) {
            return Err(Refusal::invalid(format!(
                "`code_execution` tool use with id `{cell}` was found without a corresponding \
                 `code_execution_tool_result` block"
            )));
        }
    }
    // Nothing comes before the first message whose result could be in it.
    if let Some(turn) = turns.first() {
        let result = turn.parts.iter().enumerate().find_map(|(index, part)| match part {
            Part::ToolResult { id, .. } => Some(unexpected(turn.number, index, id)),
            _ => None,
        });
        return result.map_or(Ok(answers), Err);
    }
    Ok(answers)
}

/// A result of a call that nobody made.
fn unexpected(message: usize, index: usize, id: &str) -> Refusal {
    Refusal::invalid(format!(
        "messages.{message}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
         block must have a corresponding `tool_use` block in the previous message."
    ))
}
