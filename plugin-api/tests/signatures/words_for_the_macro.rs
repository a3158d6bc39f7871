//! Refused: words for the macro.

use plugin_api::prelude::*;

/// Returns one.
#[tool(name = "one")]
fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
