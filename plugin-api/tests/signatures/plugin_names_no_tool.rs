//! Refused: plugin names no tool.

use plugin_api::prelude::*;

/// Returns one.
fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
