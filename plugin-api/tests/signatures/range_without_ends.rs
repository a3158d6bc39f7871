//! Refused: range without ends.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[range(..)] limit: u32) -> ToolResult<u32> {
    Ok(limit)
}

plugin!(echo);

fn main() {}
