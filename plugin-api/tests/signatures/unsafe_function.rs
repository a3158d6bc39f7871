//! Refused: unsafe function.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
unsafe fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
