//! Refused: default of an option.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[default(5)] limit: Option<u32>) -> ToolResult<Option<u32>> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
