//! Refused: pattern.

use plugin_api::prelude::*;

/// Returns the first.
#[tool]
fn first((left, _): (u64, u64)) -> ToolResult<u64> {
    Ok(left)
}

plugin!(first);

fn main() {}
