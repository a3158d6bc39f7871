//! Refused: range reversed.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[range(500..=1)] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
