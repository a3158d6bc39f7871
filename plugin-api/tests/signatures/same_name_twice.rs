//! Refused: same name twice.

use plugin_api::prelude::*;

/// Returns the sum.
#[tool]
#[allow(unused_variables)]
fn sum(value: u64, value: u64) -> ToolResult<u64> {
    Ok(value)
}

plugin!(sum);

fn main() {}
