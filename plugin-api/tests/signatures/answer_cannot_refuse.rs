//! Refused: answer cannot refuse.

use plugin_api::prelude::*;

/// Returns one.
#[tool]
fn count() -> u8 {
    1
}

plugin!(count);

fn main() {}
