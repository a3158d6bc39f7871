//! Tools with fixed answers, as a script's other end: what plugins/standin offers, without a plugin.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use plugin_api::wire::ToolSpec;
use serde_json::{Value, json};
use workbench::sandbox::{Bridge, BridgeError};

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
    async fn call(&self, tool: &str, arguments: Bytes) -> Result<Bytes, BridgeError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.budget {
            return Err(BridgeError::Stop(format!("the budget of {} tool calls is used up", self.budget)));
        }
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
            Ok(json!({
                "object_ids": (offset..end).map(|index| 1000 + index).collect::<Vec<_>>(),
                "next_offset": (offset + limit < 130).then_some(offset + limit),
                "total": 130,
            }))
        }
        "get_object" => object(number("object_id")?),
        "download_image" => {
            let id = number("object_id")?;
            if id.is_multiple_of(5) {
                return Err(format!("object {id} has no public image (HTTP 403)"));
            }
            let path = arguments["path"].as_str().map_or_else(|| format!("/img/{id}.jpg"), str::to_owned);
            Ok(json!({"path": path, "bytes": 12345 + id * 17}))
        }
        "query_database" => Ok(Value::from(ROWS)),
        "save_file" => {
            let content = arguments["content"].as_str().unwrap_or_default();
            Ok(json!({"path": arguments["path"], "bytes": content.chars().count()}))
        }
        "noop" => Ok(arguments["x"].clone()),
        other => Err(format!("unknown tool {other}")),
    }
}

const ROWS: &str = r#"[{"id": 1, "name": "alpha", "score": 9.5, "created": "2024-03-05T10:00:00"}, {"id": 2, "name": "beta", "score": 7.25, "created": "2024-04-01T08:30:00"}, {"id": 3, "name": "gamma", "score": null, "created": "2023-12-31T23:59:59"}]"#;

fn object(id: u64) -> Result<Value, String> {
    if id.is_multiple_of(37) {
        return Err(format!("object {id} not found (404)"));
    }
    let year = 1500 + id % 400;
    let quarter = usize::try_from(id % 4).unwrap();
    let odd = id % 2 == 1;
    let departments = ["Egyptian Art", "Asian Art", "European Paintings", "Islamic Art"];
    let dates = [format!("ca. {year}"), format!("{year}-{}", year + 5), "18th century".into(), year.to_string()];
    let artists = ["Unknown", "Hiroshige", "", "Manet"];
    Ok(json!({
        "objectID": id,
        "title": if quarter == 0 { "Seated Cat".to_owned() } else { format!("Cat no. {id}") },
        "department": departments[quarter],
        "objectDate": dates[quarter],
        "objectBeginDate": year,
        "artistDisplayName": artists[quarter],
        "medium": if odd { "Bronze; gilt" } else { "Woodblock print, ink on paper" },
        "isPublicDomain": !odd,
        "primaryImage": if id.is_multiple_of(3) { String::new() } else { format!("https://img/{id}.jpg") },
        "tags": odd.then(|| json!([{"term": "Cats"}, {"term": "Women"}])),
        "dimensions": format!("H. {}.5 x W. {} cm", id % 50, id % 30),
    }))
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
    let text = json!({"type": "string"});
    let id = json!({"type": "integer", "minimum": 0});
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
        tool("get_object", "Everything recorded about one object.", json!({"object_id": id}), &["object_id"]),
        tool(
            "download_image",
            "Downloads the picture of an object.",
            json!({"object_id": id, "path": {"type": ["string", "null"]}}),
            &["object_id"],
        ),
        tool("query_database", "Runs a query. Returns the rows as JSON text.", json!({"sql": text}), &["sql"]),
        tool("save_file", "Saves a file.", json!({"path": text, "content": text}), &["path", "content"]),
        tool("noop", "Returns its argument.", json!({"x": {}}), &["x"]),
    ]
}
