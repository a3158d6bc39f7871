//! Refused: default of another type.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[default("many")] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
