//! Refused: unknown attribute.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[minimum(1)] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
