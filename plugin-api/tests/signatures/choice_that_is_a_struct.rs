//! Refused: choice that is a struct.

use plugin_api::prelude::*;

/// A place.
#[derive(ToolArgument)]
struct Place {
    row: u64,
}

fn main() {}
