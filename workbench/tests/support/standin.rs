//! The other end of a script, without a plugin: three of the tools that plugins/standin offers, as far as the cases need.
#![allow(clippy::unwrap_used, dead_code, reason = "each test file uses a part of it")]

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};
use workbench::sandbox::{AdmittedCall, Bridge, BridgeError};

/// Answers calls; refuses those beyond a budget.
pub(crate) struct StandIn {
    calls: AtomicUsize,
    budget: usize,
}

impl StandIn {
    /// A bridge that stops the script at the call after `budget`.
    pub(crate) fn with_budget(budget: usize) -> Self {
        Self { calls: AtomicUsize::new(0), budget }
    }
}

#[async_trait]
impl Bridge for StandIn {
    fn admit(&self, tool: String, arguments: Bytes) -> Result<AdmittedCall<'_>, BridgeError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.budget {
            return Err(BridgeError::Stop(format!("the budget of {} tool calls is used up", self.budget)));
        }
        Ok(Box::pin(async move { self.call(&tool, arguments).await }))
    }

    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        let arguments: Value = serde_json::from_slice(&arguments).unwrap();
        answer(tool, &arguments).map(|value| value.to_string().into()).map_err(BridgeError::Tool)
    }
}

fn answer(tool: &str, arguments: &Value) -> Result<Value, String> {
    let number = |name: &str| arguments[name].as_u64().ok_or_else(|| format!("{name} is not a number"));
    match tool {
        "search_collection" => {
            let (offset, limit) = (number("offset")?, number("limit")?);
            let end = (offset + limit).min(130);
            let object_ids: Vec<u64> = (offset..end).map(|index| 1000 + index).collect();
            Ok(json!({"object_ids": object_ids, "next_offset": (end < 130).then_some(end), "total": 130}))
        }
        "get_object" => match number("object_id")? {
            id if id.is_multiple_of(37) => Err(format!("object {id} not found (404)")),
            id if id.is_multiple_of(4) => Ok(json!({"title": "Seated Cat"})),
            id => Ok(json!({"title": format!("Cat no. {id}")})),
        },
        "noop" => Ok(arguments["x"].clone()),
        other => Err(format!("unknown tool {other}")),
    }
}

/// What a plugin would say about these tools.
pub(crate) fn specs() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| ToolSpec {
        name: name.into(),
        description: description.into(),
        input_schema: json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        }),
    };
    vec![
        tool(
            "search_collection",
            "Finds objects. Returns total, object_ids and next_offset, which is null at the end.",
            json!({
                "query": {"type": "string", "default": ""},
                "offset": {"type": "integer", "default": 0},
                "limit": {"type": "integer", "default": 20},
                "department": {"type": ["integer", "null"]},
            }),
            &[],
        ),
        tool(
            "get_object",
            "Everything recorded about one object.",
            json!({"object_id": {"type": "integer", "minimum": 0}}),
            &["object_id"],
        ),
        tool("noop", "Returns its argument.", json!({"x": {}}), &["x"]),
    ]
}
