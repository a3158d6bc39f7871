//! Refused: tuple.

use plugin_api::prelude::*;

/// Returns the first.
#[tool]
fn first(pair: (u64, String)) -> ToolResult<u64> {
    Ok(pair.0)
}

plugin!(first);

fn main() {}
