//! Refused: foreign function.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
extern "C" fn count() -> ToolResult<u8> {
    Ok(1)
}

plugin!(count);

fn main() {}
