//! Refused: default missing.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[default] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
