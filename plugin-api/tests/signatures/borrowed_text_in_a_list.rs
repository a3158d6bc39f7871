//! Refused: borrowed text in a list.

use plugin_api::prelude::*;

/// Returns how many there are.
#[tool]
fn count(values: Vec<&str>) -> ToolResult<usize> {
    Ok(values.len())
}

plugin!(count);

fn main() {}
