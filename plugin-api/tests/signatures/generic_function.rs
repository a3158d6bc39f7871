//! Refused: generic function.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo<T: ToString>(value: T) -> ToolResult<String> {
    Ok(value.to_string())
}

plugin!(echo);

fn main() {}
