//! Refused: answer is not json.

use plugin_api::prelude::*;

pub struct Record;

/// Returns a record.
#[tool]
fn get_object() -> ToolResult<Record> {
    Ok(Record)
}

plugin!(get_object);

fn main() {}
