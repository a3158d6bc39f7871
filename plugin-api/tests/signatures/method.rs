//! Refused: method.

use plugin_api::prelude::*;

struct Museum;

impl Museum {
    /// Returns one.
    #[tool]
    fn count(&self) -> ToolResult<u8> {
        Ok(1)
    }
}

fn main() {}
