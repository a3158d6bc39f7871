//! Refused: host is owned.

use plugin_api::prelude::*;

/// Returns a record.
#[tool]
fn get_object(host: Host, object_id: u64) -> ToolResult<RawJson> {
    host.get_json(format!("/objects/{object_id}"), &[])
}

plugin!(get_object);

fn main() {}
