//! Refused: plugin calls a tool.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count());

fn main() {}
