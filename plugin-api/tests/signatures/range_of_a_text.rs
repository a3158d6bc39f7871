//! Refused: range of a text.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[range(1..=5)] value: String) -> ToolResult<String> {
    Ok(value)
}

plugin!(echo);

fn main() {}
