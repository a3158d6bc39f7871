//! Refused: integer too long.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(value: u128) -> ToolResult<String> {
    Ok(value.to_string())
}

plugin!(echo);

fn main() {}
