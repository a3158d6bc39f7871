//! Refused: range half open.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[range(1..500)] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
