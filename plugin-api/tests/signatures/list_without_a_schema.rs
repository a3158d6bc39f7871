//! Refused: list without a schema.

use plugin_api::prelude::*;

use std::collections::BTreeMap;

/// Returns how many there are.
#[tool]
fn count(values: Vec<BTreeMap<String, u64>>) -> ToolResult<usize> {
    Ok(values.len())
}

plugin!(count);

fn main() {}
