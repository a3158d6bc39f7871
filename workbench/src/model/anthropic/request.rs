//! What stands in a request before its messages.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::thinking::Thinking;
use crate::model::provider::CodeExecution;
use crate::model::types::{Callers, ModelError, ModelRequest, ToolDefinition};

/// How the model is asked, the same in every request of a command.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    /// The model's id.
    pub(super) id: String,
    /// What is said about thinking.
    pub(super) thinking: Thinking,
    /// Whether the prompt may be cached.
    pub(super) caching: bool,
    /// The tool that runs scripts, where tools may be called from them.
    pub(super) code_execution: CodeExecution,
}

/// Marks the end of what is cached.
pub(super) const CACHE_CONTROL: &str = r#""cache_control":{"type":"ephemeral"}"#;

#[derive(Serialize)]
struct Opening<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(flatten)]
    thinking: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
}

/// A tool as the API gets it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Tool<'a> {
    /// The provider's own, which runs scripts.
    CodeExecution {
        /// Its version.
        r#type: &'static str,
        /// Its name.
        name: &'static str,
    },
    /// One of ours.
    Custom {
        /// What it is.
        #[serde(flatten)]
        definition: &'a ToolDefinition,
        /// Who may call it; the model alone where nothing is said.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_callers: Option<&'static [&'static str]>,
    },
}

/// The tools as the API gets them: first the one that runs scripts, where others may be called from them.
pub fn tools(definitions: &[ToolDefinition], code_execution: CodeExecution) -> Vec<Tool<'_>> {
    let has_scripts = definitions.iter().any(|definition| definition.callers != Callers::Direct);
    let runner = has_scripts.then(|| Tool::CodeExecution { r#type: code_execution.tool(), name: "code_execution" });
    // Both versions are one as a caller, whichever is declared.
    let custom = definitions.iter().map(|definition| Tool::Custom {
        definition,
        allowed_callers: match definition.callers {
            Callers::Direct => None,
            Callers::Code => Some(&["code_execution_20260120"]),
            Callers::Both => Some(&["direct", "code_execution_20260120"]),
        },
    });
    runner.into_iter().chain(custom).collect()
}

/// The request up to the bracket that opens its messages; `max_tokens` is left out where nothing is written, and so is the
/// container where no script has one. No sampling parameter is ever sent and no tool is forced: newer models refuse both.
///
/// # Errors
/// Never: these values are JSON.
pub(super) fn opening(
    manner: &Manner,
    request: &ModelRequest<'_>,
    max_tokens: Option<u32>,
    container: Option<&str>,
) -> Result<Vec<u8>, ModelError> {
    let has_tools = !request.tools.is_empty();
    let opening = Opening {
        model: &manner.id,
        max_tokens,
        thinking: manner.thinking.fields(),
        tools: has_tools.then(|| tools(request.tools, manner.code_execution)),
        tool_choice: (has_tools && !request.parallel_calls)
            .then(|| json!({ "type": "auto", "disable_parallel_tool_use": true })),
        system: system(request.system, manner.caching),
        container,
    };
    let mut text = serde_json::to_vec(&opening)
        .map_err(|error| ModelError::Unreachable(format!("the request cannot be written: {error}")))?;
    // The messages follow in the same object.
    text.pop();
    text.extend_from_slice(br#","messages":["#);
    Ok(text)
}

/// The system text. Tools stand before it in what a cache compares, so that one mark at its end is enough for both.
fn system(text: &str, caching: bool) -> Option<Value> {
    match (text.trim().is_empty(), caching) {
        (true, _) => None,
        (false, false) => Some(text.into()),
        (false, true) => Some(json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }])),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_stands_before_the_messages() {
        let tools = [ToolDefinition {
            name: "get_object".to_owned(),
            description: "One object.".to_owned(),
            input_schema: json!({"type": "object"}),
            callers: Callers::Direct,
        }];
        let request = |tools, parallel_calls| ModelRequest {
            system: "You work for curators.",
            tools,
            messages: &[],
            max_tokens: 4096,
            parallel_calls,
            until: None,
        };
        let manner = |thinking, caching| Manner {
            id: "claude-x".to_owned(),
            thinking,
            caching,
            code_execution: CodeExecution::V20260521,
        };
        let written = |manner: &Manner, request: &ModelRequest<'_>| {
            let text = opening(manner, request, Some(request.max_tokens), None).unwrap();
            String::from_utf8(text).unwrap()
        };
        let texts = [
            written(&manner(Thinking::Off, false), &request(&tools, true)),
            written(&manner(Thinking::BetweenTools, false), &request(&tools, false)),
            written(&manner(Thinking::LowEffort, true), &request(&[], false)),
            written(&manner(Thinking::Default, false), &ModelRequest { system: " ", ..request(&[], true) }),
        ];
        insta::assert_snapshot!(texts.join("\n"));
    }
}
