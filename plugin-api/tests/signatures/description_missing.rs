//! Refused: description missing.

use plugin_api::prelude::*;

#[tool]
fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
