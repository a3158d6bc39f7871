//! Refused: default is no float.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo(#[default(1)] share: f64) -> ToolResult<f64> {
    Ok(share)
}

plugin!(echo);

fn main() {}
