//! Refused: plugin names a tool twice.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count, count);

fn main() {}
