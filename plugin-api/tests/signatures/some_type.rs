//! Refused: some type.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(value: impl ToString) -> ToolResult<String> {
    Ok(value.to_string())
}

plugin!(echo);

fn main() {}
