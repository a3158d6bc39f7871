//! Refused: borrowed list.

use plugin_api::prelude::*;

/// Returns how many there are.
#[tool]
fn count(values: &[u64]) -> ToolResult<usize> {
    Ok(values.len())
}

plugin!(count);

fn main() {}
