//! Refused: host is not first.

use plugin_api::prelude::*;

/// Returns a record.
#[tool]
fn get_object(object_id: u64, host: &Host) -> ToolResult<RawJson> {
    host.get_json(format!("/objects/{object_id}"), &[])
}

plugin!(get_object);

fn main() {}
