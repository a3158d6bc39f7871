//! Refused: not a function.

use plugin_api::prelude::*;

/// A record.
#[tool]
struct Record {
    id: u8,
}

fn main() {}
