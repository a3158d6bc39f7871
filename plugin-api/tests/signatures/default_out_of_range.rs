//! Refused: default out of range.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(
    #[default(1000)]
    #[range(1..=500)]
    limit: u32,
) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
