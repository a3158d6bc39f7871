//! Refused: borrowed text.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(value: &str) -> ToolResult<String> {
    Ok(value.to_owned())
}

plugin!(echo);

fn main() {}
