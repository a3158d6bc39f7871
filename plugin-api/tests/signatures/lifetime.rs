//! Refused: lifetime.

use plugin_api::prelude::*;

/// Returns it.
#[tool]
fn echo<'a>(value: std::borrow::Cow<'a, str>) -> ToolResult<String> {
    Ok(value.into_owned())
}

plugin!(echo);

fn main() {}
