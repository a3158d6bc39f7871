//! Refused: attribute twice.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(
    #[default(1)]
    #[default(2)]
    limit: u32,
) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
