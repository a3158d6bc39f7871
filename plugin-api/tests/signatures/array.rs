//! Refused: array.

use plugin_api::prelude::*;

/// Returns the first.
#[tool]
fn first(values: [u64; 3]) -> ToolResult<u64> {
    Ok(values[0])
}

plugin!(first);

fn main() {}
