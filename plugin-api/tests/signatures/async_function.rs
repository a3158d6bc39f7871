//! Refused: async function.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
async fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
