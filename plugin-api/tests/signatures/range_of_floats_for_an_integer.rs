//! Refused: range of floats for an integer.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[range(0.5..=1.0)] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
