//! Refused: default before a required argument.

use plugin_api::prelude::*;

/// Returns the sum.
#[tool]
fn sum(#[default(1)] left: u64, right: u64) -> ToolResult<u64> {
    Ok(left + right)
}

plugin!(sum);

fn main() {}
