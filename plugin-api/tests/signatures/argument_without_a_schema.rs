//! Refused: argument without a schema.

use plugin_api::prelude::*;

pub struct Place {
    row: u64,
    column: u64,
}

/// Returns the sum.
#[tool]
fn sum(place: Place) -> ToolResult<u64> {
    Ok(place.row + place.column)
}

plugin!(sum);

fn main() {}
