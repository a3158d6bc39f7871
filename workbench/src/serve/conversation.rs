//! What the model behind the server sees of a conversation: its own words and calls, the results of its cells, and nothing
//! of the calls that cells made.

use std::time::Duration;

use serde_json::{Value, json};

use super::messages::{Messages, Part};
use super::tools::{CODE_EXECUTION, Tools};
use crate::model::types::{Block, Callers, Message, Role, ToolDefinition};
use crate::sandbox::stubs::python_name;

/// A conversation as the model sees it.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub(super) system: String,
    pub(super) tools: Vec<ToolDefinition>,
    pub(super) messages: Vec<Message>,
}

impl Conversation {
    /// What was said, before a model whose cells may compute for `cell_time`.
    pub(super) fn of(system: String, tools: &Tools, messages: &Messages, cell_time: Duration) -> Self {
        let mut conversation = Self { system, tools: offered(tools, cell_time), messages: Vec::new() };
        let mut from_cells = std::collections::HashSet::new();
        for turn in &messages.turns {
            for part in &turn.parts {
                match part {
                    Part::Ignored => {}
                    Part::Text(text) => conversation.say(turn.role, Block::Text { text: text.clone() }),
                    Part::ToolUse { id, cell: Some(_), .. } => _ = from_cells.insert(id.as_str()),
                    Part::ToolUse { id, name, input, cell: None } => {
                        let call =
                            Block::ToolUse { id: id.clone(), name: name.clone(), input: input.clone(), caller: None };
                        conversation.say(Role::Assistant, call);
                    }
                    Part::ToolResult { id, .. } if from_cells.contains(id.as_str()) => {}
                    Part::ToolResult { id, text, is_error } => conversation.hear(id, text, *is_error),
                    Part::Cell { id, input } => conversation.say(Role::Assistant, cell(id, input.clone())),
                    Part::CellResult { id, text } => conversation.hear(id, text, false),
                }
            }
        }
        conversation
    }

    /// Adds words of one side.
    pub(super) fn say(&mut self, role: Role, block: Block) {
        match self.messages.last_mut().filter(|message| message.role == role) {
            Some(message) => message.content.push(block),
            None => self.messages.push(Message { role, content: vec![block] }),
        }
    }

    /// Adds a result.
    pub(super) fn hear(&mut self, id: &str, text: &str, is_error: bool) {
        let result = Block::ToolResult { tool_use_id: id.to_owned(), content: text.to_owned(), is_error };
        self.say(Role::User, result);
    }
}

/// A cell as the model's call of the tool that runs it.
pub(super) fn cell(id: &str, input: Value) -> Block {
    Block::ToolUse { id: id.to_owned(), name: CODE_EXECUTION.to_owned(), input, caller: None }
}

/// What the model may call itself: tools of its own, and the one that runs code, which tells what code may call.
fn offered(tools: &Tools, cell_time: Duration) -> Vec<ToolDefinition> {
    if tools.none_offered {
        return Vec::new();
    }
    let direct = tools.custom.iter().filter(|tool| tool.direct).map(|tool| ToolDefinition {
        name: tool.spec.name.clone(),
        description: tool.spec.description.clone(),
        input_schema: tool.spec.input_schema.clone(),
        callers: Callers::Direct,
    });
    let code = tools.code_execution.then(|| ToolDefinition {
        name: CODE_EXECUTION.to_owned(),
        description: description(tools, cell_time),
        input_schema: json!({
            "type": "object",
            "properties": { "code": { "type": "string", "description": "Python source of the cell." } },
            "required": ["code"]
        }),
        callers: Callers::Direct,
    });
    direct.chain(code).collect()
}

/// What a model that was not made for it has to know.
fn description(tools: &Tools, cell_time: Duration) -> String {
    let mut text = format!(
        "Runs one cell of Python 3 and returns what it printed. Names stay for later cells; `await` works at top level; a \
         cell may compute for {} s.",
        cell_time.as_secs_f64()
    );
    let callable = &tools.called_from_code;
    if callable.is_empty() {
        return text;
    }
    text.push_str(
        "\n\nThese coroutine functions are there without import. Each takes one dict with the arguments of its schema and \
         returns a text, which a failure is, too; for many calls at once use asyncio.gather. Print only what you need to \
         read.\n",
    );
    for tool in callable.iter() {
        text.push_str(&format!(
            "\nasync def {}(arguments: dict) -> str\n{}\nSchema: {}\n",
            python_name(&tool.name),
            tool.description.trim(),
            tool.input_schema
        ));
    }
    text
}
